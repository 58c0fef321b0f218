internal import Synchronization

/// Reports lines that are not attached: each reason at its first line with each detail and then once
/// an hour (``ExplanationLedger``), and ordinary reasons (``Reason/ordinary``) only at their first
/// line. It uses its own thread, so that a log that blocks delays no line.
package final class Explainer: Sendable {
  private struct Pending {
    var ledger = ExplanationLedger()
    var waiting: [@Sendable () -> Void] = []
    var isFinished = false
  }

  private let pending: Mailbox<Pending>
  private let machine: any Machine
  private let alarm: any WakeSignal
  private let finished: any WakeSignal
  private let detail: URLDetail
  /// A bit for each ordinary reason that was reported.
  private let ordinaries = Atomic<Int>(0)
  private let notify: @Sendable (Explanation) -> Void

  /// Starts the thread, which ends with ``finish()``.
  ///
  /// - Parameters:
  ///   - machine: provides the time.
  ///   - detail: how much of a URL to show.
  /// - Throws: ``SystemError`` if the system provides no file descriptor or no thread.
  package init(machine: any Machine, showing detail: URLDetail, notify: @escaping @Sendable (Explanation) -> Void) throws(SystemError) {
    self.machine = machine
    self.detail = detail
    self.notify = notify
    let alarm = try machine.makeWakeSignal()
    self.alarm = alarm
    pending = Mailbox(Pending()) { alarm.ring() }
    finished = try machine.makeWakeSignal()
    try machine.start("explain") { [weak self] in
      while case .wait(let instant) = self?.tellWaiting() ?? .end { alarm.wait(until: instant) }
    }.detach()
  }

  deinit {
    alarm.ring()
  }

  /// Explains a line if it is the first with its reason and detail, otherwise counts it. Never waits.
  /// The number of stored explanations is limited.
  ///
  /// - Parameter cause: what is known beside the reason.
  package func add(_ reason: Reason, of line: Int, _ media: [MediaRecord] = [], _ cause: LineCause? = nil) {
    if cause == nil, let ordinary = Reason.ordinary.firstIndex(of: reason) {
      let bit = 1 << ordinary
      // Reading alone is cheap, and nearly every line stops here.
      guard ordinaries.load(ordering: .relaxed) & bit == 0 else { return }
      guard ordinaries.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 else { return }
    }
    let now = machine.now
    let medium = media.first { $0.reason == reason }
    let example = cause.map { ExplanationDetail($0) } ?? medium.flatMap { ExplanationDetail($0) }
    pending.change { pending in
      let isDue = pending.ledger.add(reason, example, at: now) {
        Explanation(
          line: line, column: cause?.column, reason: reason, url: medium.map { detail.text(of: $0.url) },
          text: cause?.text ?? medium?.explanation ?? reason.advice)
      }
      return ((), isNews: isDue)
    }
  }

  /// Runs something else on the thread, such as writing another message to the log. Never waits.
  package func perform(_ body: @escaping @Sendable () -> Void) {
    pending.change { $0.waiting.append(body) }
  }

  /// Waits until all due explanations are reported, and ends the thread.
  package func finish() {
    pending.change { $0.isFinished = true }
    finished.wait(until: nil)
  }

  private enum Step {
    /// Waits for the time or a wake-up; with nil, only for a wake-up.
    case wait(until: MonotonicInstant?)
    case end
  }

  private func tellWaiting() -> Step {
    while true {
      let now = machine.now
      let (due, waiting, step) = pending.take { pending in
        defer { pending.waiting = [] }
        let due = pending.ledger.takeDue(at: now)
        let step: Step = pending.isFinished ? .end : .wait(until: pending.ledger.nextDue)
        return ((due, pending.waiting, step), sleeps: due.isEmpty && pending.waiting.isEmpty)
      }
      for explanation in due { notify(explanation) }
      for body in waiting { body() }
      guard due.isEmpty, waiting.isEmpty else { continue }
      guard case .end = step else { return step }
      finished.ring()
      return .end
    }
  }
}
