internal import Synchronization

/// The real clock: a heap of deadlines on the monotonic clock, and a thread that runs their
/// actions.
///
/// The thread does no other work, so work that a deadline interrupts cannot delay the deadline.
public final class MonotonicClock: DeadlineClock {
  private struct Book {
    var heap = TimerHeap()
    /// The instant until which the thread sleeps. It is in the past while the thread is awake,
    /// because the thread checks the heap before it sleeps.
    var sleepsUntil = MonotonicInstant.distantPast
  }

  package let machine: any Machine
  private let book: Mailbox<Book>
  private let alarm: any WakeSignal
  /// The instant of the earliest appointment, in nanoseconds.
  private let earliest = Atomic<Int64>(.max)
  /// Never rung; used only to wait for a time.
  private let pause: any WakeSignal

  /// The largest delay at which the clock does not count as behind.
  private static let tolerance = Duration.milliseconds(1)

  /// Starts the clock's thread, which ends with the clock.
  ///
  /// - Throws: ``SystemError`` when the system cannot create a descriptor or a thread.
  public convenience init() throws(SystemError) {
    try self.init(machine: SystemMachine())
  }

  /// Starts the clock on the given machine.
  ///
  /// - Throws: ``SystemError`` when the machine cannot create a descriptor or a thread.
  package init(machine: any Machine) throws(SystemError) {
    self.machine = machine
    let alarm = try machine.makeWakeSignal()
    self.alarm = alarm
    book = Mailbox(Book()) { alarm.ring() }
    pause = try machine.makeWakeSignal()
    try machine.start("deadlines", .timely) { [weak self] in
      while let next = self?.runDue() {
        alarm.wait(until: next)
      }
    }.detach()
  }

  deinit {
    alarm.ring()
  }

  public var now: MonotonicInstant {
    machine.now
  }

  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment {
    let entry = book.change { book in
      let entry = book.heap.add(at: instant, action)
      noteEarliest(of: book)
      let isEarlier = instant < book.sleepsUntil
      if isEarlier { book.sleepsUntil = instant }
      return (entry, isNews: isEarlier)
    }
    return Appointment(entry)
  }

  public func cancel(_ appointment: Appointment) {
    guard let entry = appointment.entry as? TimerEntry else { return }
    _ = book.change { book in
      let action = book.heap.remove(entry)
      noteEarliest(of: book)
      return (action, isNews: false)
    }
  }

  private func noteEarliest(of book: borrowing Book) {
    earliest.store(book.heap.earliest?.nanoseconds ?? .max, ordering: .relaxed)
  }

  /// The maximum number of appointments taken from the heap at a time.
  private static let portion = 32

  package var isOverdue: Bool {
    earliest.load(ordering: .relaxed) < now.nanoseconds - Self.tolerance.nanoseconds
  }

  /// Waits while the clock's thread is late. New work would only take processor time from that
  /// thread.
  ///
  /// - Returns: when the wait began; nil if there was none.
  @discardableResult
  package func waitForOverdueTimers() -> MonotonicInstant? {
    guard isOverdue else { return nil }
    let start = now
    repeat { pause.wait(until: now.advanced(by: Self.tolerance)) } while isOverdue
    return start
  }

  /// Runs the due actions and returns the instant of the next one.
  private func runDue() -> MonotonicInstant {
    var due: [@Sendable () -> Void] = []
    while true {
      let next = book.take { book in
        let now = machine.now
        while due.count < Self.portion, let action = book.heap.popDue(at: now) { due.append(action) }
        noteEarliest(of: book)
        book.sleepsUntil = due.isEmpty ? (book.heap.earliest ?? .distantFuture) : .distantPast
        return (book.sleepsUntil, sleeps: due.isEmpty)
      }
      guard !due.isEmpty else { return next }
      for action in due { action() }
      due.removeAll(keepingCapacity: true)
    }
  }
}
