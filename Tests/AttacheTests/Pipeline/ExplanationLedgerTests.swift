import Testing

@testable import Attache

/// When a reason is reported.
@Suite struct ExplanationLedgerTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000)
  private var ledger = ExplanationLedger()

  private mutating func add(_ reason: Reason, line: Int, after minutes: Int) -> Bool {
    ledger.add(reason, at: Self.instant(minutes)) { Explanation(line: line, reason: reason, text: "text") }
  }

  private mutating func shown(after minutes: Int) -> [String] {
    ledger.takeDue(at: Self.instant(minutes)).map(\.description)
  }

  private static func instant(_ minutes: Int) -> MonotonicInstant {
    start.advanced(by: .seconds(60 * minutes))
  }

  @Test mutating func `a reason is told at its first payload, and again after an hour with its count`() {
    #expect(add(.deadline, line: 1, after: 0))
    #expect(shown(after: 0) == ["line 1: deadline: text"])
    #expect(ledger.nextDue == nil)
    #expect(add(.deadline, line: 2, after: 1))
    for line in 3...1_235 { #expect(!add(.deadline, line: line, after: 2)) }
    #expect(shown(after: 59) == [])
    #expect(ledger.nextDue == Self.instant(60))
    #expect(shown(after: 60) == ["line 2: deadline: text (again 1,234 times in the last hour)"])
    #expect(shown(after: 200) == [])
    #expect(ledger.nextDue == nil)
  }

  @Test mutating func `after a quiet hour the next payload is told at once`() {
    _ = add(.deadline, line: 1, after: 0)
    _ = shown(after: 0)
    #expect(add(.deadline, line: 2, after: 90))
    #expect(shown(after: 90) == ["line 2: deadline: text (again 1 time in the last hour)"])
    #expect(add(.deadline, line: 3, after: 91))
    #expect(shown(after: 91) == [])
    #expect(ledger.nextDue == Self.instant(150))
  }

  @Test mutating func `each reason has an hour of its own`() {
    _ = add(.deadline, line: 1, after: 0)
    _ = add(.httpStatus, line: 2, after: 30)
    #expect(shown(after: 30).count == 2)
    _ = add(.httpStatus, line: 3, after: 31)
    _ = add(.deadline, line: 4, after: 32)
    #expect(shown(after: 61) == ["line 4: deadline: text (again 1 time in the last hour)"])
    #expect(shown(after: 90) == ["line 3: http.status: text (again 1 time in the last hour)"])
  }

  @Test func `large counts are grouped by threes`() {
    var explanation = Explanation(line: 1, reason: .deadline, text: "text")
    explanation.isRepeated = true
    for (count, text) in [(999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")] {
      explanation.count = count
      #expect(explanation.description.contains("(again \(text) times in the last hour)"))
    }
  }
}
