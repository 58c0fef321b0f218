public import Attache
internal import Synchronization

/// A clock that advances only when a test calls ``advance(by:)``.
public final class ManualClock: DeadlineClock {
  private final class Booking: Sendable {
    let instant: MonotonicInstant
    let order: Int
    let action: @Sendable () -> Void

    init(instant: MonotonicInstant, order: Int, action: @escaping @Sendable () -> Void) {
      self.instant = instant
      self.order = order
      self.action = action
    }
  }

  private struct State {
    var now: MonotonicInstant
    var bookings: [Booking] = []
    var booked = 0
  }

  private let state: Mutex<State>

  /// - Parameter start: the first instant; arbitrary by default.
  public init(start: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000)) {
    state = Mutex(State(now: start))
  }

  /// The current instant; it changes only in ``advance(by:)``.
  public var now: MonotonicInstant {
    state.withLock { $0.now }
  }

  /// The number of appointments that have neither run nor been cancelled.
  public var appointments: Int {
    state.withLock { $0.bookings.count }
  }

  /// Books an action for an instant. An action that is already due runs before this method returns,
  /// on the caller's thread.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment {
    let booking = state.withLock { state in
      let booking = Booking(instant: instant, order: state.booked, action: action)
      state.booked += 1
      state.bookings.append(booking)
      return booking
    }
    if instant <= now { advance(by: .zero) }
    return Appointment(booking)
  }

  /// Cancels an appointment; does nothing when it has already run.
  public func cancel(_ appointment: Appointment) {
    state.withLock { $0.bookings.removeAll { $0 === appointment.entry } }
  }

  /// Advances the clock and runs the actions that become due, on the caller's thread. Each runs at
  /// its own instant, in order of time and then of booking.
  public func advance(by duration: Duration) {
    let target = now.advanced(by: duration)
    while let booking = nextDue(until: target) { booking.action() }
    state.withLock { $0.now = max($0.now, target) }
  }

  private func nextDue(until target: MonotonicInstant) -> Booking? {
    state.withLock { state in
      let due = state.bookings.filter { $0.instant <= target }
      guard let next = due.min(by: { ($0.instant, $0.order) < ($1.instant, $1.order) }) else { return nil }
      state.bookings.removeAll { $0 === next }
      state.now = max(state.now, next.instant)
      return next
    }
  }
}
