/// The platform that the engine runs on. It provides the time, threads, and signals that wake
/// threads. The real machine is ``SystemMachine``; a rehearsal simulates one.
package protocol Machine: Sendable {
  /// The current instant.
  var now: MonotonicInstant { get }
  /// The number of processors that threads can run on.
  var processors: Int { get }
  /// A random number in 0…1.
  var randomFraction: Double { get }

  /// Starts a thread that runs `body` once.
  ///
  /// - Parameters:
  ///   - name: the name that tools such as `top -H` show, at most 15 bytes.
  ///   - urgency: whether the thread runs before others when there are too few processors.
  /// - Throws: ``SystemError`` when the system cannot create a thread.
  func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makeWakeSignal() throws(SystemError) -> any WakeSignal

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makeInputGate() throws(SystemError) -> any InputGate

  /// Makes the poller that a loop waits in.
  ///
  /// - Throws: ``SystemError`` when the system cannot create a descriptor.
  func makePoller() throws(SystemError) -> any Poller

  /// Makes the two ends of a connection between threads of this machine.
  ///
  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makeStreams() throws(SystemError) -> (any ByteStream, any ByteStream)
}

extension Machine {
  /// Starts a thread of the usual urgency.
  package func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread {
    try start(name, .usual, body)
  }
}

/// Whether a thread must run without delay.
package enum ThreadUrgency: Sendable {
  case usual
  /// The thread has little work, but other threads may wait for it.
  case timely
}

/// A thread that must be either joined or detached, once.
package protocol StartedThread: Sendable {
  /// Waits until the thread ends.
  func join()
  /// Releases the thread's resources when it ends, without a join.
  func detach()
}

/// A signal that wakes a waiting thread. A ring without a waiter is kept for the next wait.
package protocol WakeSignal: AnyObject, Sendable {
  /// Ends the current wait, or the next one. Safe from any thread.
  func ring()
  /// Waits until the signal is rung or `instant` is reached, and clears all rings so far. With nil
  /// it waits only for a ring. A long wait may end early, so the caller checks the clock.
  func wait(until instant: MonotonicInstant?)
}

/// Waits for input in a way that another thread can interrupt.
package protocol InputGate: AnyObject, Sendable {
  /// Ends the current wait, or the next one. Safe from any thread.
  func ring()
  /// Waits until the descriptor has data or is at its end.
  ///
  /// - Returns: false when the gate was rung, or `instant` may be reached.
  /// - Throws: ``SystemError`` of `poll`.
  func wait(for descriptor: Int32, until instant: MonotonicInstant?) throws(SystemError) -> Bool
}
