/// What the engine runs on: it gives the time, threads, and signals that wake them. The real one is
/// ``SystemMachine``; a rehearsal simulates one.
package protocol Machine: Sendable {
  /// The present instant.
  var now: MonotonicInstant { get }
  /// The processors that threads run on.
  var processors: Int { get }
  /// A random number in 0…1.
  var randomFraction: Double { get }

  /// Starts a thread that runs `body` once.
  ///
  /// - Parameters:
  ///   - name: what tools such as `top -H` show, at most 15 bytes.
  ///   - urgency: whether it goes before others where there are not processors enough.
  /// - Throws: ``SystemError`` when there is no thread to be had.
  func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makeWakeSignal() throws(SystemError) -> any WakeSignal

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makeInputGate() throws(SystemError) -> any InputGate

  /// What a loop sleeps in.
  ///
  /// - Throws: ``SystemError`` when no descriptor is to be had.
  func makePoller() throws(SystemError) -> any Poller
}

extension Machine {
  /// Starts a thread as urgent as any.
  package func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread {
    try start(name, .usual, body)
  }
}

/// How much a thread's being late matters.
package enum ThreadUrgency: Sendable {
  case usual
  /// It has little to do, and that in time: what others do may wait for it.
  case timely
}

/// A thread that is joined or detached, one of them, once.
package protocol StartedThread: Sendable {
  /// Waits until the thread has ended.
  func join()
  /// Lets the thread end by itself.
  func detach()
}

/// What wakes a thread that waits, and remembers that it was rung.
package protocol WakeSignal: AnyObject, Sendable {
  /// Wakes the waiter, now or when it next waits. Safe from any thread.
  func ring()
  /// Waits until the wake signal is rung or `instant` has come, and takes back every ring so far;
  /// nil waits for a ring alone. A long wait may end early: who waits for the time looks at the
  /// clock.
  func wait(until instant: MonotonicInstant?)
}

/// What a reader waits for input with, so that it can be woken.
package protocol InputGate: AnyObject, Sendable {
  /// Ends the present wait, or the next one. Safe from any thread.
  func ring()
  /// Waits for something to read, or for the input's end.
  ///
  /// - Returns: false when the gate was rung, or `instant` may have come.
  /// - Throws: ``SystemError`` of `poll`.
  func wait(for descriptor: Int32, until instant: MonotonicInstant?) throws(SystemError) -> Bool
}

/// A clock that has a machine behind it: what keeps time by the clock runs on that machine.
package protocol MachineClock: DeadlineClock {
  var machine: any Machine { get }
  /// Whether something has been due for longer than it takes to wake up. Safe from any thread, and
  /// costs no lock.
  var isBehind: Bool { get }
  /// Waits while the clock is behind.
  func waitUntilPunctual()
}

extension DeadlineClock {
  /// The machine behind the clock; that of the system behind one that has none of its own.
  package var machineBehind: any Machine {
    (self as? any MachineClock)?.machine ?? SystemMachine()
  }
}
