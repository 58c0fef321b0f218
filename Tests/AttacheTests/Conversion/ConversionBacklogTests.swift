import Testing

@testable import Attache

@Suite struct ConversionBacklogTests {
  private var backlog = ConversionBacklog(converters: 2)

  private mutating func play(_ payloads: Range<UInt64>, converting every: UInt64?, each work: Duration = .milliseconds(300)) {
    for payload in payloads {
      backlog.begin(payload)
      if let every, payload % every == 0 { backlog.note(work, of: payload) }
      backlog.end(payload)
    }
  }

  /// Payloads wait for a conversion, one after the other at two fetchers.
  private mutating func wait(_ payloads: Range<UInt64>, each work: Duration = .milliseconds(300)) {
    for payload in payloads {
      backlog.begin(payload)
      backlog.note(work, of: payload)
    }
    for fetcher in 0..<2 { note(load: work * payloads.count / 2, of: fetcher) }
  }

  @discardableResult
  private mutating func note(load: Duration, of fetcher: Int) -> Bool {
    backlog.note(load: load, of: fetcher)
  }

  /// Half of the deadline of two converters, in seconds.
  @Test(arguments: [(Duration.seconds(5), 5), (.seconds(30), 30), (.seconds(1), 1), (.milliseconds(100), 1)])
  func `at first each payload counts as a second of a converter`(deadline: Duration, places: Int) {
    #expect(backlog.places(within: deadline) == places)
  }

  @Test mutating func `without conversions the limit is soon out of the way`() {
    play(0..<60, converting: nil)
    #expect(backlog.places(within: .seconds(5)) > 256)
  }

  @Test mutating func `payloads with conversions count although the others are decided first`() {
    wait(0..<5)
    play(5..<25, converting: nil)
    // 5 s, less 1.5 s that are known, for a quarter of the payloads with half a second each.
    #expect((25...45).contains(backlog.places(within: .seconds(5))), "\(backlog.places(within: .seconds(5)))")
  }

  @Test mutating func `payloads that are decided before the first picture is downloaded do not open the reader`() {
    for payload in 0..<200 as Range<UInt64> {
      backlog.begin(payload)
      if payload % 2 == 0 { backlog.end(payload) }
    }
    #expect(backlog.places(within: .seconds(5)) <= 10, "\(backlog.places(within: .seconds(5)))")
    for payload in 0..<200 as Range<UInt64> { backlog.end(payload) }
    #expect(backlog.places(within: .seconds(5)) > 100, "\(backlog.places(within: .seconds(5)))")
  }

  @Test mutating func `a payload whose download takes long keeps the others from being learned for a while only`() {
    backlog.begin(0)
    play(1..<2_000, converting: nil)
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
    wait(1_000..<1_017)
    #expect(backlog.places(within: .seconds(5)) == 17, "those that wait, and no other")
    #expect(note(load: .zero, of: 0) == true)
    #expect(backlog.places(within: .seconds(5)) > 17 + free / 8)
    #expect(note(load: .zero, of: 1) == true)
    #expect(note(load: .zero, of: 1) == false, "nothing changes")
    #expect((free / 2...free + 17).contains(backlog.places(within: .seconds(5))), "\(backlog.places(within: .seconds(5)))")
  }

  @Test mutating func `a payload with many pictures is one sample`() {
    play(0..<200, converting: 2)
    let free = backlog.places(within: .seconds(5))
    backlog.begin(1_000)
    for _ in 0..<10 { backlog.note(.milliseconds(400), of: 1_000) }
    backlog.end(1_000)
    #expect(backlog.places(within: .seconds(5)) > free * 9 / 10, "it hardly changes what is typical")
  }

  @Test(arguments: [20, 100, 200]) mutating func `payloads whose pictures come after those of others leave the reader places`(count: UInt64)
  {
    play(0..<200, converting: nil)
    for payload in 1_000..<1_000 + count {
      backlog.begin(payload)
      for _ in 0..<10 { backlog.note(.seconds(1), of: payload) }
    }
    for fetcher in 0..<2 { note(load: .seconds(2), of: fetcher) }
    #expect(backlog.places(within: .seconds(10)) > Int(count) + 5, "\(backlog.places(within: .seconds(10)))")
  }

  @Test mutating func `a fetcher that claims more work than there is leaves the reader places`() {
    play(0..<200, converting: nil)
    note(load: .seconds(1 << 32), of: 0)
    #expect(backlog.places(within: .seconds(10)) > 10, "\(backlog.places(within: .seconds(10)))")
  }

  @Test mutating func `what is reported of a payload after its decision is ignored`() {
    play(0..<200, converting: 5)
    let free = backlog.places(within: .seconds(5))
    for payload in 0..<250 as Range<UInt64> {
      backlog.note(.seconds(1), of: payload)
      backlog.end(payload)
    }
    #expect(backlog.places(within: .seconds(5)) == free)
  }

  @Test mutating func `whatever is reported, one payload may be undecided`() {
    for payload in 0..<1_000 as Range<UInt64> {
      backlog.begin(payload)
      backlog.note(.seconds(1 << 32), of: payload)
      #expect(note(load: .seconds(1 << 32), of: Int(payload)) == false)
    }
    for payload in 0..<1_000 as Range<UInt64> { backlog.end(payload) }
    #expect(backlog.places(within: .milliseconds(1)) == 1)
    #expect(note(load: .seconds(-5), of: 7) == true)
    #expect(backlog.places(within: .zero) == 1)
  }
}
