/// What a loop sleeps in until a descriptor is ready, a time has come, or somebody wakes it. Used
/// by the loop's thread, but for ``wake()``.
package protocol Poller: AnyObject, Sendable {
  /// Watches a descriptor from now on; `isKnown` says whether it was watched before, for something
  /// else perhaps.
  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool)
  func unwatch(_ descriptor: Int32)
  /// Sleeps, until `instant` at the latest, and tells of every descriptor that is ready.
  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void)
  /// Ends the present sleep, or the next one. Safe from any thread.
  func wake()
}

/// What a descriptor is watched for, and what happened to it.
package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let readable = Readiness(rawValue: 1)
  package static let writable = Readiness(rawValue: 2)
  /// Reported unasked.
  package static let failed = Readiness(rawValue: 4)
}
