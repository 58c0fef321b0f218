/// The three kinds of media in Apple's table of attachments. Each has its own maximum size.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
public enum MediaKind: String, CaseIterable, Sendable {
  /// Images, audio files, and videos.
  case image, audio, video
}
