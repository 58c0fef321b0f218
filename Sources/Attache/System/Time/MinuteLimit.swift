/// Allows a message once a minute: for a failure that a loop survives and that may come back at once.
package struct MinuteLimit: Sendable {
  private var next = MonotonicInstant.distantPast

  package init() {}

  /// Returns whether the message may be logged now. It may not be logged again for a minute then.
  package mutating func allows(at now: MonotonicInstant) -> Bool {
    guard now >= next else { return false }
    next = now.advanced(by: .seconds(60))
    return true
  }
}
