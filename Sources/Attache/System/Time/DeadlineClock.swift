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
