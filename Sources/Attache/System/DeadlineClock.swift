/// What deadlines are kept by: the time, and appointments at it. The real one is
/// ``MonotonicClock``; tests turn a manual one.
public protocol DeadlineClock: AnyObject, Sendable {
  /// The present instant.
  var now: MonotonicInstant { get }

  /// Runs `action` once when `instant` has come, at once if it is past. The action must not block.
  ///
  /// - Returns: the appointment, for ``cancel(_:)``.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment

  /// Takes an appointment back; one that is due already may still run.
  func cancel(_ appointment: Appointment)
}

/// A place in a clock's book, as ``DeadlineClock/schedule(at:_:)`` gives it.
public struct Appointment: Sendable {
  package let entry: any AnyObject & Sendable

  package init(_ entry: any AnyObject & Sendable) {
    self.entry = entry
  }
}
