import Attache
import Testing

@testable import AttacheQueue

/// The rate after answers that say that a quota is used up.
struct QuotaRateTests {
  private let start = MonotonicInstant.now

  @Test func `the limit is half of what was answered, falls once in ten seconds, and is lifted after minutes without a refusal`() {
    var rate = QuotaRate()
    for number in 0..<1_000 { rate.noteAnswer(at: start.advanced(by: .milliseconds(5 * number))) }
    let refused = start.advanced(by: .seconds(5))
    var limits: [Double] = []
    for number in 0..<300 {
      if let limit = rate.noteRefusal(at: refused, inFlight: 64) { limits.append(limit) }
      rate.noteAnswer(at: refused)
      // 112 refusals are a tenth of 1,000 answers and themselves.
      #expect(limits.count == (number < 111 ? 0 : 1))
    }
    #expect(limits.first.map { (110...112).contains($0) } ?? false)
    #expect(rate.limit == limits.first)
    rate.noteAnswer(at: refused.advanced(by: .seconds(59)))
    #expect(rate.limit == limits.first)
    rate.noteAnswer(at: refused.advanced(by: .seconds(60)))
    #expect(rate.limit == nil)
  }

  @Test func `the first answers that are all refusals make half of those in flight, from the fifth`() {
    var rate = QuotaRate()
    for number in 1...5 {
      #expect(rate.noteRefusal(at: start, inFlight: 64) == (number < 5 ? nil : 32))
      rate.noteAnswer(at: start)
    }
    #expect(rate.noteRefusal(at: start.advanced(by: .seconds(9)), inFlight: 64) == nil)
    rate.noteAnswer(at: start.advanced(by: .seconds(9)))
    #expect(rate.limit == 32)
    rate.noteAnswer(at: start.advanced(by: .seconds(61)))
    #expect(rate.limit == nil)
  }

  @Test func `refusals of few recipients slow nobody down`() {
    var rate = QuotaRate()
    rate.noteAnswer(at: start)
    for number in 0..<500 {
      let now = start.advanced(by: .milliseconds(number))
      for _ in 0..<11 { rate.noteAnswer(at: now) }
      #expect(rate.noteRefusal(at: now, inFlight: 64) == nil)
      rate.noteAnswer(at: now)
    }
    #expect(rate.limit == nil)
  }

  @Test func `the limit falls to one a second, and not further`() {
    var rate = QuotaRate()
    for number in 0..<20 {
      let now = start.advanced(by: .seconds(11 * number))
      for _ in 0..<5 {
        _ = rate.noteRefusal(at: now, inFlight: 8)
        rate.noteAnswer(at: now)
      }
    }
    #expect(rate.limit == 1)
  }
}
