/// What a notification shows: the part of Apple's `UNNotificationContent` that attache reads from a
/// payload, and its attachments.
///
/// Only the attachments find their way into the enriched line; the texts are there to decide by.
public struct NotificationContent: Hashable, Sendable {
  /// The title, or its loc-key when the payload leaves the text to the device: the app's own tables
  /// are not known here. Empty if absent.
  public var title: String
  /// The subtitle or its loc-key; empty if absent.
  public var subtitle: String
  /// The body or its loc-key, or an `alert` that is a string; empty if absent.
  public var body: String
  /// The number on the app's icon: 0 clears it, nil leaves it.
  public var badge: Int?
  /// The name of the sound's file, or `default`.
  public var sound: String?
  /// The category whose actions are offered; empty if absent.
  public var categoryIdentifier: String
  /// The thread that notifications are grouped by; empty if absent.
  public var threadIdentifier: String
  /// Stored media, in the order of their references.
  public var attachments: [Attachment]

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

  /// Whether there is anything to show; content without it is ignored and the original delivered,
  /// as Apple does.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension/didreceive(_:withcontenthandler:)
  /// ("If the content object doesn't contain any alert text, the system ignores your
  /// modifications").
  public var hasAlertText: Bool {
    !title.isEmpty || !subtitle.isEmpty || !body.isEmpty
  }
}
