import Testing

@testable import Attache

@Suite struct ConversionBacklogTests {
  private var backlog = ConversionBacklog(converters: 2)

  private mutating func play(_ payloads: Range<UInt64>, converting every: UInt64?, each work: Duration = .milliseconds(300)) {
    for payload in payloads {
      if let every, payload % every == 0 {
        backlog.note(work, of: payload)
        backlog.note(.zero - work, of: payload)
      }
      backlog.end(payload)
    }
  }

  /// Half of the deadline of two converters, divided by a quarter of a second.
  @Test(arguments: [(Duration.seconds(5), 20), (.seconds(30), 120), (.seconds(1), 4), (.milliseconds(100), 1)])
  func `at first each payload counts as a photo to convert`(deadline: Duration, places: Int) {
    #expect(backlog.places(within: deadline) == places)
  }

  @Test mutating func `without conversions the limit is soon out of the way`() {
    play(0..<20, converting: nil)
    #expect(backlog.places(within: .seconds(5)) > 256)
  }

  @Test mutating func `with a fifth of the payloads to convert, so many may be undecided as the converters finish in half the time`() {
    play(0..<200, converting: 5)
    // 2 × 2.5 s / 0.3 s = 16 conversions, a fifth of the payloads.
    #expect((60...110).contains(backlog.places(within: .seconds(5))), "\(backlog.places(within: .seconds(5)))")
    #expect(backlog.places(within: .seconds(30)) > 256)
  }

  @Test mutating func `known conversions leave no place for more than the time allows, and give it back`() {
    play(0..<200, converting: 5)
    let free = backlog.places(within: .seconds(5))
    for payload in 1_000..<1_017 as Range<UInt64> { backlog.note(.milliseconds(300), of: payload) }
    #expect(backlog.places(within: .seconds(5)) == 17, "those that wait, and no other")
    for payload in 1_000..<1_017 as Range<UInt64> { backlog.note(.milliseconds(-300), of: payload) }
    #expect(backlog.places(within: .seconds(5)) == free + 17)
  }

  @Test mutating func `one payload with many large pictures counts as four typical ones`() {
    play(0..<200, converting: 2)
    let free = backlog.places(within: .seconds(5))
    for _ in 0..<10 { backlog.note(.seconds(8), of: 1_000) }
    // 4 × 0.3 s of 5 s, less or more one for rounding.
    #expect(abs(backlog.places(within: .seconds(5)) - 1 - Int(Double(free) * 3.8 / 5)) <= 1)
    backlog.end(1_000)
    #expect(backlog.places(within: .seconds(5)) > free * 9 / 10, "and hardly changes what is typical")
  }

  @Test mutating func `whatever is reported, one payload may be undecided`() {
    for payload in 0..<1_000 as Range<UInt64> { backlog.note(.seconds(1 << 32), of: payload) }
    for payload in 0..<1_000 as Range<UInt64> { backlog.end(payload) }
    #expect(backlog.places(within: .milliseconds(1)) == 1)
    backlog.note(.seconds(-5), of: 7)
    #expect(backlog.places(within: .zero) == 1)
  }
}
