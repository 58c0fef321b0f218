/// The effect of a payload on arrival, as its `aps` defines it. Only ``alert`` can wake a service
/// extension.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/modifying-content-in-newly-delivered-notifications
/// ("alerts … only the playing of a sound or the badging of an icon") and
/// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
public enum PushKind: Hashable, Sendable, CaseIterable {
  /// Shows an alert: `alert` is a non-empty string, or a dictionary with a title, a subtitle, a
  /// body or one of their loc-keys.
  case alert
  /// Plays a sound or badges the icon, and shows no alert.
  case soundOrBadge
  /// Wakes the app (`content-available`) and shows nothing.
  case silent
  /// Has no effect that a user or the app would notice, or is not a push at all.
  case nothing
}
