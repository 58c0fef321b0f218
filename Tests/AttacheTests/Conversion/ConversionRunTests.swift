import Testing

@testable import Attache

/// The rules for conversions together, in virtual time.
@Suite struct ConversionRunTests {
  private static let plain = ConversionRun.Line()

  @Test(arguments: [2_000_000, 12_000_000, 48_000_000])
  func `with a fifth of the lines to convert, nearly all are converted, and the converters are not idle`(pixels: Int) {
    let lines = (0..<1_000).map { ConversionRun.Line(pictures: $0 % 5 == 0 ? 1 : 0, pixels: pixels) }
    let run = ConversionRun(lines, deadline: 5_000, speed: 40_000)
    #expect(run.converted.reduce(0, +) >= 190, "\(run.converted.reduce(0, +))")
    let needed = 100 * (pixels / run.speed + 5)
    #expect(run.placed.last.map { $0 <= needed * 12 / 10 } == true, "\(run.placed.last ?? 0) of \(needed) ms")
  }

  @Test(arguments: [
    (20, 10, 81_000_000, 20_000), (20, 10, 81_000_000, 30_000), (60, 10, 81_000_000, 30_000), (60, 10, 81_000_000, 60_000),
    (20, 1, 81_000_000, 30_000), (20, 10, 16_000_000, 30_000), (20, 10, 40_000_000, 30_000), (20, 10, 40_000_000, 60_000),
  ])
  func `payloads with huge pictures keep the reader waiting for less than half of the deadline`(
    strangers: Int, pictures: Int, pixels: Int, speed: Int
  ) {
    let lines =
      Array(repeating: Self.plain, count: 200) + Array(repeating: ConversionRun.Line(pictures: pictures, pixels: pixels), count: strangers)
      + Array(repeating: Self.plain, count: 2_000)
    let run = ConversionRun(lines, deadline: 10_000, speed: speed)
    #expect(run.longestPause < 4_500, "\(run.longestPause) ms")
    #expect(run.placed.last.map { $0 < 5_000 } == true, "\(run.placed.last ?? 0) ms")
  }

  @Test func `payloads with huge pictures cost others no conversion`() {
    // Four photos and a stranger's ten pictures a second.
    let lines = (0..<200).map { number in
      number % 5 == 0
        ? ConversionRun.Line(pictures: 10, pixels: 81_000_000, arrival: number * 200)
        : ConversionRun.Line(pictures: 1, pixels: 12_000_000, arrival: number * 200)
    }
    let run = ConversionRun(lines, deadline: 5_000, speed: 30_000)
    #expect(run.converted.indices.allSatisfy { $0 % 5 == 0 || run.converted[$0] == 1 })
    #expect(run.longestPause < 500, "\(run.longestPause) ms")
  }

  @Test func `where conversions need less than half of the converters, the reader hardly waits`() {
    // Two fifths of the time of two converters.
    let lines = (0..<2_000).map { ConversionRun.Line(pictures: $0 % 50 == 0 ? 1 : 0, pixels: 12_000_000, arrival: $0 * 8) }
    let run = ConversionRun(lines, deadline: 5_000, speed: 40_000)
    #expect(run.converted.reduce(0, +) == 40)
    #expect(run.placed.last.map { $0 * 9 / 10 <= 2_000 * 8 } == true, "\(run.placed.last ?? 0) ms")
  }
}
