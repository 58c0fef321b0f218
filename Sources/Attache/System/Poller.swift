/// Waits until a descriptor is ready, an instant is reached, or another thread calls ``wake()``.
/// Only the loop's thread may call the other methods.
package protocol Poller: AnyObject, Sendable {
  /// Watches a descriptor from now on. `isKnown` says whether it is already watched, perhaps for
  /// another readiness.
  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool)
  func unwatch(_ descriptor: Int32)
  /// Waits until `instant` at the latest, and calls `ready` for each ready descriptor.
  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void)
  /// Ends the current wait, or the next one. Safe from any thread.
  func wake()
}

/// The events that a descriptor is watched for, or that have occurred on it.
package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let readable = Readiness(rawValue: 1)
  package static let writable = Readiness(rawValue: 2)
  /// An error or a hang-up. Reported even when not requested.
  package static let failed = Readiness(rawValue: 4)
}
