/// The host's result for one request: better content, or the original.
public struct ExtensionResult: Sendable {
  /// The better content; nil means the original.
  public var content: NotificationContent?
  /// Why the original is delivered; nil if there was nothing to do.
  public var reason: Reason?
  /// The result of each media reference, as far as the extension reports it.
  public var media: [MediaRecord]

  /// Returns a result with better content.
  public static func content(_ content: NotificationContent, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: content, reason: nil, media: media)
  }

  /// Returns a result that delivers the original. `reason` is nil if there was nothing to do.
  public static func original(_ reason: Reason?, media: [MediaRecord] = []) -> ExtensionResult {
    ExtensionResult(content: nil, reason: reason, media: media)
  }
}
