internal import Synchronization

/// The content that a notification shows: the part of Apple's `UNMutableNotificationContent` that
/// attache reads from a payload, and its attachments.
///
/// A service extension gets the content of its request, changes it, and offers it. Only the bytes
/// of the members that differ are replaced in the line. A changed empty text, or nil, removes the
/// member. Content that was not changed leaves the line as it is.
///
/// The original is delivered, with ``Reason/extensionContent``, if the badge is negative, if a value
/// of user info is not JSON, if its name is `aps` or the name of the output member, if the line's
/// envelope has no place for a change, if there are more than 256 changes, or if a change makes the payload larger than 4,096
/// bytes, which APNs refuses. Attachments do not count towards this limit.
public struct NotificationContent: Hashable, Sendable {
  /// The values of the payload's members.
  struct Members: Hashable, Sendable {
    var title = ""
    var subtitle = ""
    var body = ""
    var badge: Int?
    var sound: String?
    var category = ""
    var thread = ""
    var userInfo: [UntrustedText: [UInt8]] = [:]
    /// Changes of other members of `aps`, which attache does not read.
    var aps: [MemberChange] = []
  }

  private enum Storage: Sendable {
    case unread(UnreadContent)
    /// Indirect, because content is copied with its payload, and the members of few payloads are read.
    indirect case read(Members)
  }

  /// The stored media, in the order of their references.
  public var attachments: [Attachment]
  private var storage: Storage

  /// Creates content. Every parameter defaults to an absent value.
  ///
  /// To change a notification, start from ``NotificationRequest/content`` instead: a value that is
  /// absent here is removed from the payload.
  public init(
    title: String = "", subtitle: String = "", body: String = "", badge: Int? = nil, sound: String? = nil,
    categoryIdentifier: String = "", threadIdentifier: String = "", userInfo: [UntrustedText: [UInt8]] = [:],
    attachments: [Attachment] = []
  ) {
    self.attachments = attachments
    storage = .read(
      Members(
        title: title, subtitle: subtitle, body: body, badge: badge, sound: sound, category: categoryIdentifier, thread: threadIdentifier,
        userInfo: userInfo))
  }

  /// Creates the content of a payload, which is parsed when a member is first needed.
  init(_ content: UnreadContent) {
    attachments = []
    storage = .unread(content)
  }

  /// The title, or its loc-key if the device looks up the text, because the app's own string tables
  /// are not known here. Empty if absent. A new title also replaces the loc-key.
  public var title: String {
    get { members.title }
    set { members.title = newValue }
  }

  /// The subtitle or its loc-key; empty if absent. A new subtitle also replaces the loc-key.
  public var subtitle: String {
    get { members.subtitle }
    set { members.subtitle = newValue }
  }

  /// The body or its loc-key, or an `alert` that is a string; empty if absent. A new body also
  /// replaces the loc-key. If a text is changed, an `alert` that is a string becomes an object.
  public var body: String {
    get { members.body }
    set { members.body = newValue }
  }

  /// The number on the app's icon, which must not be negative. 0 removes it from the icon; nil
  /// leaves the icon unchanged.
  public var badge: Int? {
    get { members.badge }
    set { members.badge = newValue }
  }

  /// The file name of the sound, or `default`; nil for no sound. In a dictionary, which describes a
  /// critical alert, a new name replaces only the name.
  public var sound: String? {
    get { members.sound }
    set { members.sound = newValue }
  }

  /// The category that defines the notification's actions; empty if absent.
  public var categoryIdentifier: String {
    get { members.category }
    set { members.category = newValue }
  }

  /// The thread that groups notifications; empty if absent.
  public var threadIdentifier: String {
    get { members.thread }
    set { members.thread = newValue }
  }

  /// The app's own members at the top of the payload: for each name other than `aps`, the value's
  /// JSON in UTF-8. A changed value is written without white space between its tokens.
  public var userInfo: [UntrustedText: [UInt8]] {
    get { members.userInfo }
    set { members.userInfo = newValue }
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

  /// Whether the alert text was removed. Does not read the payload: a candidate has alert text.
  var lacksAlertText: Bool {
    hasChanges && !hasAlertText
  }

  /// Whether the members may differ from the payload's.
  var hasChanges: Bool {
    if case .read = storage { true } else { false }
  }

  var members: Members {
    get {
      switch storage {
      case .unread(let content): content.members
      case .read(let members): members
      }
    }
    set { storage = .read(newValue) }
  }

  /// The payload as APNs receives it; for content that was changed or created, what it shows.
  var json: [UInt8] {
    switch storage {
    case .unread(let content): content.json
    case .read(let members): members.json
    }
  }

  public static func == (left: NotificationContent, right: NotificationContent) -> Bool {
    left.members == right.members && left.attachments == right.attachments
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(members)
    hasher.combine(attachments)
  }
}

extension NotificationContent.Members {
  /// A payload that shows this content.
  fileprivate var json: [UInt8] {
    func text(_ name: UntrustedText, _ text: String) -> MemberChange {
      MemberChange(name, text.isEmpty ? nil : MemberChange(name, string: UntrustedText(text)).source)
    }
    let alert = JSONWriter.object([text("title", title), text("subtitle", subtitle), text("body", body)])
    let aps = [
      MemberChange("alert", alert), MemberChange("badge", badge.map { Array("\($0)".utf8) }), text("sound", sound ?? ""),
      text("category", category), text("thread-id", thread),
    ]
    return JSONWriter.object([MemberChange("aps", JSONWriter.object(aps))] + userInfo.map { MemberChange($0, $1) })
  }
}

/// The content of a payload that is parsed when a member is first needed, because most extensions
/// only add attachments.
final class UnreadContent: Sendable {
  private final class Parsed: Sendable {
    let members: NotificationContent.Members

    init(_ members: NotificationContent.Members) {
      self.members = members
    }
  }

  private let line: Segment
  /// The payload's bytes in the line, unless ``place`` has them.
  private let range: Range<Int>
  private let place: PayloadPlace?
  private let read = AtomicLazyReference<Parsed>()

  init(of payload: Payload, in line: Segment) {
    (self.line, range, place) = (line, payload.splice.payload, payload.place)
  }

  /// The values of the payload's members; all absent if there is no memory for a parser.
  var members: NotificationContent.Members {
    (read.load() ?? read.storeIfNil(Parsed(Self.parse(json)))).members
  }

  /// The payload as APNs receives it.
  var json: [UInt8] {
    if let built = place?.built { return built }
    if let place, let text = place.text { return Array(text.source(place.object)) }
    return line.bytes(in: range)
  }

  private static func parse(_ json: [UInt8]) -> NotificationContent.Members {
    let parser = JSONParser(capacity: json.count)
    let aps = ApsReader()
    guard let payload = parser.parse(copying: json) else { return NotificationContent.Members() }
    _ = aps.read(payload.member("aps"))
    var members = aps.content().members
    withExtendedLifetime(parser) {}
    let text = JSONText(json)
    for member in text.members(of: text.root) where !text.isNamed(member, "aps") {
      members.userInfo[UntrustedText(decoding: text.string(member.name) ?? [])] = Array(text.source(member.value))
    }
    return members
  }
}
