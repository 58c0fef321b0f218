internal import Glibc
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

/// A clock that gives the time and runs actions at deadlines. The real clock is ``MonotonicClock``;
/// tests use a clock that they advance manually.
public protocol DeadlineClock: AnyObject, Sendable {
  /// The current instant.
  var now: MonotonicInstant { get }

  /// Runs `action` once at `instant`, or immediately if `instant` is in the past. The action must
  /// not block.
  ///
  /// - Returns: the appointment, for ``cancel(_:)``.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment

  /// Cancels an appointment. An action that is already due may still run.
  func cancel(_ appointment: Appointment)
}

/// An action scheduled on a clock, as ``DeadlineClock/schedule(at:_:)`` returns it.
public struct Appointment: Sendable {
  package let entry: any AnyObject & Sendable

  package init(_ entry: any AnyObject & Sendable) {
    self.entry = entry
  }
}

/// A point on the monotonic clock (`CLOCK_MONOTONIC`). This clock does not jump with the wall
/// clock, and stops while the machine is suspended.
public struct MonotonicInstant: InstantProtocol, Sendable {
  /// Nanoseconds since an arbitrary start; on Linux, the boot of the machine.
  public var nanoseconds: Int64

  /// Makes an instant from nanoseconds since the start of the clock.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The current instant.
  public static var now: MonotonicInstant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  package static let distantPast = MonotonicInstant(nanoseconds: .min)
  package static let distantFuture = MonotonicInstant(nanoseconds: .max)

  /// The time until this instant as a timeout of poll(2), in milliseconds; -1 means no limit. The
  /// wait may end early, so the caller checks the clock and waits again. The result is rounded up,
  /// so that the caller does not spin at the end.
  package var pollTimeout: Int32 {
    guard let nanoseconds = nanosecondTimeout else { return -1 }
    return Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
  }

  /// The time until this instant as a timeout of ppoll(2), in nanoseconds; nil means no limit. The
  /// wait may end early, as with ``pollTimeout``.
  ///
  /// A wait of more than 20 ms is halved, because the kernel may extend it by 1/1000, or by 1/200
  /// in a niced process.
  var nanosecondTimeout: Int64? {
    guard self != .distantFuture else { return nil }
    let now = MonotonicInstant.now.nanoseconds
    guard nanoseconds > now else { return 0 }
    let (left, overflows) = nanoseconds.subtractingReportingOverflow(now)
    return overflows ? .max / 2 : left > 20_000_000 ? left / 2 : left
  }

  /// Returns the instant after `duration`, or before this one if `duration` is negative; saturates
  /// at the ends of the range.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return overflows ? (duration < .zero ? .distantPast : .distantFuture) : MonotonicInstant(nanoseconds: sum)
  }

  /// Returns the time from this instant to `other`, negative if `other` is earlier; saturates at
  /// about 292 years.
  public func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflows) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflows ? (other < self ? .min : .max) : difference)
  }

  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The duration in whole nanoseconds; saturates at about 292 years.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, scaleOverflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflows) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return scaleOverflows || sumOverflows ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in milliseconds with a fraction, as in the report.
  public var milliseconds: Double {
    Double(nanoseconds) / 1_000_000
  }
}
