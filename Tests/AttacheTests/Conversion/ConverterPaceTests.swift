import Testing

@testable import Attache

@Suite struct ConverterPaceTests {
  private var pace = ConverterPace()

  @Test mutating func `a conversion's time follows from its pixels and the speed of this run`() {
    for _ in 0..<20 { pace.note(12_000_000, of: .webp, took: .milliseconds(605)) }
    #expect((590...620).contains(pace.time(12_000_000, of: .webp).milliseconds))
    #expect((295...315).contains(pace.time(6_000_000, of: .webp).milliseconds))
    #expect(pace.pixels(in: .milliseconds(605), of: .webp) / 100_000 == 120)
    #expect(pace.time(12_000_000, of: .jpeg) == ConverterPace().time(12_000_000, of: .jpeg), "each format has its own")
  }

  @Test mutating func `before the speed is known, more time is set aside than is expected`() {
    #expect(pace.work(12_000_000, of: .webp) == pace.time(12_000_000, of: .webp) * 3)
    pace.note(12_000_000, of: .webp, took: .milliseconds(605))
    #expect(pace.work(12_000_000, of: .webp) == pace.time(12_000_000, of: .webp))
  }

  @Test mutating func `what needs more time than is left is known beforehand, with a margin`() {
    for _ in 0..<20 { pace.note(12_000_000, of: .webp, took: .milliseconds(605)) }
    #expect(pace.leastTime(120_000_000, of: .webp) > .seconds(3))
    #expect(pace.leastTime(120_000_000, of: .webp) < .seconds(5))
    #expect(ConverterPace().leastTime(120_000_000, of: .webp) < .seconds(1), "nothing is known yet")
  }

  @Test mutating func `a stranger's slow pictures do not make others' impossible`() {
    for _ in 0..<100 { pace.note(300_000, of: .webp, took: .seconds(4)) }
    #expect(pace.leastTime(12_000_000, of: .webp) < .seconds(2))
    for _ in 0..<100 { pace.note(10, of: .avif, took: .seconds(4)) }
    #expect(pace.leastTime(12_000_000, of: .avif) == ConverterPace().leastTime(12_000_000, of: .avif))
  }

  @Test(arguments: [
    (1_000_000, 81_000_000, false, true), (20_000_000, 81_000_000, false, true), (30_000_000, 81_000_000, false, false),
    (12_000_000, 12_000_000, false, false), (12_000_000, 12_000_000, true, true),
  ])
  func `a far smaller picture is converted beside a large one, and any beside one that is slow`(
    pixels: Int, running: Int, isSlow: Bool, overtakes: Bool
  ) {
    #expect(ConverterPace.overtakes(pixels, running: running, isSlow: isSlow) == overtakes)
  }

  @Test func `a conversion has all the time that is left, and half of it while others wait`() {
    #expect(pace.limit(1_000_000, of: .webp, left: .seconds(4), othersWait: false) == .seconds(4))
    #expect(pace.limit(1_000_000, of: .webp, left: .seconds(4), othersWait: true) == .seconds(2))
    let needed = pace.time(12_000_000, of: .webp) * 3
    #expect(pace.limit(12_000_000, of: .webp, left: needed + .milliseconds(1), othersWait: true) == needed)
    #expect(pace.limit(12_000_000, of: .webp, left: .milliseconds(20), othersWait: true) == .milliseconds(20))
  }
}
