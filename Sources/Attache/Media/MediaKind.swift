/// The three kinds of media that Apple's table of attachments knows; each has its own largest size.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
public enum MediaKind: String, CaseIterable, Sendable {
  case image, audio, video
}
