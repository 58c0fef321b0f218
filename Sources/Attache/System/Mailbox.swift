internal import Synchronization

/// Contents that any thread changes and one thread, the receiver, takes; and a signal that wakes the
/// receiver. Only the receiver may call the methods named `take`.
///
/// A signal costs a system call, so it is given only to a receiver that sleeps. No wake-up is lost:
/// the receiver finds nothing to do and is marked as asleep in one critical section. The receiver
/// finds a change before that section; a change after it gives the signal. A signal that comes
/// before the wait ends the wait at once.
package final class Mailbox<Contents: Sendable>: Sendable {
  private struct State {
    var contents: Contents
    /// Whether the receiver sleeps or is about to sleep.
    var isAsleep = false
  }

  private let state: Mutex<State>
  private let wake: @Sendable () -> Void

  /// - Parameter wake: ends the receiver's current wait, or the next one.
  package init(_ contents: Contents, wake: @escaping @Sendable () -> Void) {
    state = Mutex(State(contents: contents))
    self.wake = wake
  }

  /// Changes the contents, and wakes the receiver if it sleeps.
  package func change(_ body: (inout Contents) -> Void) {
    change { (body(&$0), isNews: true) }
  }

  /// Changes the contents, and wakes the receiver if it sleeps and the change concerns it.
  ///
  /// - Parameter body: returns the result, and whether the change concerns the receiver.
  package func change<Result: Sendable>(_ body: (inout Contents) -> (Result, isNews: Bool)) -> Result {
    let (result, wakes) = state.withLock { state in
      let (result, isNews) = body(&state.contents)
      guard isNews, state.isAsleep else { return (result, false) }
      state.isAsleep = false
      return (result, true)
    }
    if wakes { wake() }
    return result
  }

  /// Returns something of the contents.
  package func read<Result: Sendable>(_ body: (Contents) -> Result) -> Result {
    state.withLock { body($0.contents) }
  }

  /// Takes from the contents. Only the receiver may call it.
  ///
  /// - Parameter body: returns the result, and whether the receiver sleeps now. Then the next
  ///   change that concerns it gives the signal.
  package func take<Result: Sendable>(_ body: (inout Contents) -> (Result, sleeps: Bool)) -> Result {
    state.withLock { state in
      let (result, sleeps) = body(&state.contents)
      state.isAsleep = sleeps
      return result
    }
  }

  /// Takes from the contents, and waits while there is nothing to do. Only the receiver may call
  /// it.
  ///
  /// - Parameters:
  ///   - signal: the signal that the mailbox gives.
  ///   - body: returns nil if there is nothing to do.
  package func take<Result: Sendable>(waitingFor signal: any WakeSignal, _ body: (inout Contents) -> Result?) -> Result {
    while true {
      let result = take { contents -> (Result?, sleeps: Bool) in
        let result = body(&contents)
        return (result, sleeps: result == nil)
      }
      if let result { return result }
      signal.wait(until: nil)
    }
  }
}
