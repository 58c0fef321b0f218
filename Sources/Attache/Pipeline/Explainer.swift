internal import Synchronization

/// Tells about the first line that is not attached for each reason, on a thread of its own: a log that nobody reads holds up no line.
package final class Explainer: Sendable {
  private struct Desk {
    var explained: Set<Reason> = []
    var waiting: [Explanation] = []
    var isFinished = false
  }

  private let desk = Mutex(Desk())
  private let alarm: any Bell
  private let told: any Bell
  private let detail: URLDetail
  private let tell: @Sendable (Explanation) -> Void

  /// Starts the thread, which ends with ``finish()``.
  ///
  /// - Parameter detail: how much of a URL is shown.
  /// - Throws: ``SystemError`` when the system gives no descriptor or no thread.
  package init(machine: any Machine, showing detail: URLDetail, tell: @escaping @Sendable (Explanation) -> Void) throws(SystemError) {
    self.detail = detail
    self.tell = tell
    alarm = try machine.makeBell()
    told = try machine.makeBell()
    try machine.start("explain") { [weak self, alarm] in
      while self?.tellWaiting() == true { alarm.wait(until: nil) }
    }.detach()
  }

  deinit {
    alarm.ring()
  }

  /// Has a payload explained if it is the first with its reason. Never waits; there are as many explanations as reasons.
  ///
  /// - Parameter why: what is said in the place of the reason's advice.
  package func add(_ reason: Reason, of line: Int, _ media: [MediaRecord], why: String? = nil) {
    let isFirst = desk.withLock { desk in
      guard desk.explained.insert(reason).inserted else { return false }
      let medium = media.first { $0.reason == reason }
      desk.waiting.append(
        Explanation(
          line: line, reason: reason, url: medium.map { detail.text(of: $0.url) }, text: why ?? medium?.explanation ?? reason.advice))
      return true
    }
    if isFirst { alarm.ring() }
  }

  /// Waits until all is told, and ends the thread.
  package func finish() {
    desk.withLock { $0.isFinished = true }
    alarm.ring()
    told.wait(until: nil)
  }

  /// - Returns: whether there may be more.
  private func tellWaiting() -> Bool {
    while true {
      let (waiting, isFinished) = desk.withLock { desk in
        defer { desk.waiting = [] }
        return (desk.waiting, desk.isFinished)
      }
      for explanation in waiting { tell(explanation) }
      guard waiting.isEmpty else { continue }
      if isFinished { told.ring() }
      return !isFinished
    }
  }
}
