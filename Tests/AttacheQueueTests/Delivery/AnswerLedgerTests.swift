import Attache
import Testing

@testable import AttacheQueue

@Suite struct AnswerLedgerTests {
  private let token = LeaseToken(id: 7, fence: 1)

  private func instant(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  @Test func `a name is the text before the details`() {
    #expect(AnswerName.of("status 404: no such user: 17") == "status 404")
    #expect(AnswerName.of("410 Unregistered") == "410 Unregistered")
    #expect(AnswerName.of("") == "")
    #expect(AnswerName.of("a\u{1B}[2Jb:c") == PrintableText.of("a\u{1B}[2Jb:c"))
    #expect(AnswerName.of(String(repeating: "x", count: 61)) == String(repeating: "x", count: 60) + "…")
    #expect(AnswerName.of(String(repeating: "x", count: 60) + ": y") == String(repeating: "x", count: 60))
  }

  @Test func `the first failure of each answer is told at once, then how many there were in a minute`() {
    var ledger = AnswerLedger()
    #expect(ledger.note("status 200", to: token, nil, at: instant(0)) == nil)
    #expect(ledger.note("status 404: gone", to: token, .dropped, at: instant(0)) == "payload 7 is dropped: status 404: gone")
    #expect(ledger.note("status 503: busy", to: token, .retried, at: instant(1)) == "payload 7 is tried again later: status 503: busy")
    #expect(ledger.nextDue == nil)
    for second in 2...40 as ClosedRange<Int64> {
      #expect(ledger.note("status 404: \(second)", to: token, .dropped, at: instant(second)) == nil)
    }
    #expect(ledger.nextDue == instant(60))
    #expect(ledger.due(at: instant(59)) == [])
    #expect(ledger.due(at: instant(60)) == ["39 more payloads are dropped, in 60 s: status 404"])
    #expect(ledger.due(at: instant(200)) == [] && ledger.nextDue == nil)
    #expect(ledger.note("status 404: again", to: token, .dropped, at: instant(200)) == "payload 7 is dropped: status 404: again")
    #expect(ledger.note("status 404", to: token, .dropped, at: instant(201)) == nil)
    #expect(ledger.due(at: instant(203), isOver: true) == ["1 more payload is dropped, in 3 s: status 404"])
    #expect(ledger.counts == ["status 200": 1, "status 404": 42, "status 503": 1])
  }

  @Test func `names that strangers invent share one`() {
    var ledger = AnswerLedger()
    var messages = 0
    for number in 1...1_000 where ledger.note("drop \(number)", to: token, .dropped, at: instant(0)) != nil { messages += 1 }
    #expect(ledger.counts.count == AnswerLedger.maximumNames + 1)
    #expect(ledger.counts[AnswerLedger.otherName] == 1_000 - AnswerLedger.maximumNames)
    #expect(messages == AnswerLedger.maximumNames + 1)
  }

  @Test func `a stranger's text cannot write to a terminal`() {
    var ledger = AnswerLedger()
    let message = ledger.note("\u{1B}[2J\n: \u{202E}", to: token, .dropped, at: instant(0))
    #expect(message == "payload 7 is dropped: \\u{1b}[2J\\u{a}: \\u{202e}")
    #expect(ledger.counts == ["\\u{1b}[2J\\u{a}": 1])
  }
}
