internal import Synchronization

/// Tells about the payloads that fall back, each reason at its first payload and then once an hour (``ExplanationLedger``), on a thread of its own: a log
/// that nobody reads holds up no line.
package final class Explainer: Sendable {
  private struct Desk {
    var ledger = ExplanationLedger()
    var isFinished = false
  }

  private let desk = Mutex(Desk())
  private let machine: any Machine
  private let alarm: any Bell
  private let told: any Bell
  private let detail: URLDetail
  private let tell: @Sendable (Explanation) -> Void

  /// Starts the thread, which ends with ``finish()``.
  ///
  /// - Parameters:
  ///   - machine: says when an hour is over.
  ///   - detail: how much of a URL is shown.
  /// - Throws: ``SystemError`` when the system gives no descriptor or no thread.
  package init(machine: any Machine, showing detail: URLDetail, tell: @escaping @Sendable (Explanation) -> Void) throws(SystemError) {
    self.machine = machine
    self.detail = detail
    self.tell = tell
    alarm = try machine.makeBell()
    told = try machine.makeBell()
    try machine.start("explain") { [weak self, alarm] in
      while case .wait(let instant) = self?.tellWaiting() ?? .end { alarm.wait(until: instant) }
    }.detach()
  }

  deinit {
    alarm.ring()
  }

  /// Has a payload explained if it is the first with its reason, else counted. Never waits; there are as many explanations as reasons.
  package func add(_ reason: Reason, of line: Int, _ media: [MediaRecord]) {
    let now = machine.now
    let isDue = desk.withLock { desk in
      desk.ledger.add(reason, at: now) {
        let medium = media.first { $0.reason == reason }
        return Explanation(
          line: line, reason: reason, url: medium.map { detail.text(of: $0.url) }, text: medium?.explanation ?? reason.advice)
      }
    }
    if isDue { alarm.ring() }
  }

  /// Waits until all is told that is due, and ends the thread.
  package func finish() {
    desk.withLock { $0.isFinished = true }
    alarm.ring()
    told.wait(until: nil)
  }

  private enum Step {
    /// Waits for the instant, or for a ring alone.
    case wait(until: MonotonicInstant?)
    case end
  }

  private func tellWaiting() -> Step {
    while true {
      let now = machine.now
      let (due, next, isFinished) = desk.withLock { desk in (desk.ledger.takeDue(at: now), desk.ledger.nextDue, desk.isFinished) }
      for explanation in due { tell(explanation) }
      guard due.isEmpty else { continue }
      guard isFinished else { return .wait(until: next) }
      told.ring()
      return .end
    }
  }
}
