@testable import Attache
@testable import AttacheQueue
import Testing

/// Which pauses of a worker are reported.
@Suite struct PauseLedgerTests {
  private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
  private let fault = MachineFault(.storeFull, "no room")
  private let reported = "store.full: no room"

  private func said(_ ledger: inout PauseLedger, _ fault: MachineFault?, after seconds: Int) -> String? {
    switch ledger.note(fault, at: start.advanced(by: .seconds(seconds))) {
    case .paused(let text, let count): "\(text) \(count)"
    case .resumed: "resumed"
    case nil: nil
    case let notice?: "\(notice)"
    }
  }

  @Test func `a pause is reported once, however long it lasts, and so is its end`() {
    var ledger = PauseLedger()
    #expect(said(&ledger, nil, after: 0) == nil)
    #expect(said(&ledger, fault, after: 1) == "\(reported) 1")
    for second in stride(from: 6, to: 300, by: 5) { #expect(said(&ledger, fault, after: second) == nil) }
    #expect(said(&ledger, nil, after: 300) == "resumed")
    #expect(said(&ledger, nil, after: 301) == nil)
  }

  @Test func `a worker that pauses every five seconds says so once a minute, with the count`() {
    var ledger = PauseLedger()
    var lines: [String] = []
    for second in stride(from: 0, to: 130, by: 5) {
      lines += [said(&ledger, fault, after: second), said(&ledger, nil, after: second + 2)].compactMap { $0 }
    }
    #expect(lines == ["\(reported) 1", "resumed", "\(reported) 12", "resumed", "\(reported) 12", "resumed"])
  }

  @Test func `a pause that begins right after another one is reported as soon as a minute is over, while it lasts`() {
    var ledger = PauseLedger()
    _ = said(&ledger, fault, after: 0)
    _ = said(&ledger, nil, after: 5)
    #expect(said(&ledger, fault, after: 6) == nil)
    #expect(said(&ledger, fault, after: 59) == nil)
    #expect(said(&ledger, fault, after: 61) == "\(reported) 1")
    #expect(said(&ledger, nil, after: 100) == "resumed")
  }

  @Test func `the notice has the count`() {
    #expect("\(WorkerNotice.paused("why", count: 1))" == "paused: why; no payload is lost, and the worker tries again every 5 s")
    #expect("\(WorkerNotice.paused("why", count: 12))".hasSuffix("every 5 s (paused 12 times since the last such message)"))
  }
}
