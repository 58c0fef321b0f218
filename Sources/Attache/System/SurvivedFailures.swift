internal import Synchronization

/// The failures that loops of this process survive: after a pause, they try the same again. They are
/// reported at most once a minute.
package final class SurvivedFailures: Sendable {
  /// The failures of this process.
  package static let process = SurvivedFailures()

  private struct State {
    var limit = MinuteLimit()
    var notify: (@Sendable (String) -> Bool)?
  }

  private let state = Mutex(State())

  package init() {}

  /// Sets the function that receives the sentence of a failure, on the thread that noted it. It must
  /// not wait. It returns false when it cannot report, and then gets the next failure.
  package func report(to notify: @escaping @Sendable (_ sentence: String) -> Bool) {
    state.withLock { $0.notify = notify }
  }

  /// Reports a failure, unless one was reported within a minute. Safe from any thread.
  package func note(_ sentence: @autoclosure () -> String, at now: MonotonicInstant = .now) {
    state.withLock { state in
      guard let notify = state.notify else { return }
      var limit = state.limit
      if limit.allows(at: now), notify(sentence()) { state.limit = limit }
    }
  }
}
