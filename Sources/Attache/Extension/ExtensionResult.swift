/// What a host hands on for one request: better content, or the original.
public struct ExtensionResult: Sendable {
  /// nil is the original.
  public var content: NotificationContent?
  /// Why it is the original; nil when there was nothing to do.
  public var reason: Reason?
  /// What became of each media reference, as far as the extension says.
  public var media: [MediaRecord]

  /// Better content.
  public static func content(_ content: NotificationContent, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: content, reason: nil, media: media)
  }

  /// The original.
  public static func original(_ reason: Reason?, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: nil, reason: reason, media: media)
  }
}
