/// The content that a notification shows: the part of Apple's `UNNotificationContent` that attache
/// reads from a payload, and its attachments.
///
/// Only the attachments are written to the enriched line. The texts only serve decisions.
public struct NotificationContent: Hashable, Sendable {
  /// The title, or its loc-key if the device looks up the text, because the app's own string tables
  /// are not known here. Empty if absent.
  public var title: String
  /// The subtitle or its loc-key; empty if absent.
  public var subtitle: String
  /// The body or its loc-key, or an `alert` that is a string; empty if absent.
  public var body: String
  /// The number on the app's icon. 0 removes it; nil leaves it unchanged.
  public var badge: Int?
  /// The file name of the sound, or `default`.
  public var sound: String?
  /// The category that defines the notification's actions; empty if absent.
  public var categoryIdentifier: String
  /// The thread that groups notifications; empty if absent.
  public var threadIdentifier: String
  /// The stored media, in the order of their references.
  public var attachments: [Attachment]

  /// Creates content. Every parameter defaults to an absent value.
  public init(
    title: String = "", subtitle: String = "", body: String = "", badge: Int? = nil, sound: String? = nil,
    categoryIdentifier: String = "", threadIdentifier: String = "", attachments: [Attachment] = []
  ) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.badge = badge
    self.sound = sound
    self.categoryIdentifier = categoryIdentifier
    self.threadIdentifier = threadIdentifier
    self.attachments = attachments
  }

  /// Whether there is alert text. Without it, the content is ignored and the original notification
  /// is delivered, as Apple does.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension/didreceive(_:withcontenthandler:)
  /// ("If the content object doesn't contain any alert text, the system ignores your
  /// modifications").
  public var hasAlertText: Bool {
    !title.isEmpty || !subtitle.isEmpty || !body.isEmpty
  }
}
