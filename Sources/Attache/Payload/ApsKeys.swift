/// The keys that Apple defines in `aps`.
package enum ApsKeys {
  /// The keys of `aps`.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  /// (table 1); the last two are from
  /// https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications
  /// and
  /// https://developer.apple.com/documentation/widgetkit/updating-widgets-with-widgetkit-push-notifications
  package static let ofAps: Set<UntrustedText> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id", "interruption-level",
    "relevance-score", "filter-criteria", "url-args", "stale-date", "content-state", "timestamp", "event", "dismissal-date",
    "attributes-type", "attributes", "input-push-token", "input-push-channel", "content-changed",
  ]

  /// The keys of `aps.alert`, including those that Apple defined in the past.
  package static let ofAlert: Set<UntrustedText> = [
    "title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args", "loc-key",
    "loc-args", "action", "action-loc-key", "summary-arg", "summary-arg-count", "sound",
  ]

  /// Returns whether a place of a payload belongs to Apple's keys, so that its text is no URL to
  /// fetch.
  ///
  /// - Parameter path: the names from the outermost to the innermost.
  static func define(_ path: [String]) -> Bool {
    guard path.count > 1, path[0] == "aps", ofAps.contains(UntrustedText(path[1])) else { return false }
    return path[1] != "alert" || path.count == 2 || ofAlert.contains(UntrustedText(path[2]))
  }
}
