/// A candidate: the content that a payload shows, the media that it names, and the place in its
/// line for the result. A line may contain several candidates. The line itself is not changed.
public struct Payload: Hashable, Sendable {
  /// The media to fetch, in the order of the dialects. Each URL appears once.
  public var references: [MediaReference]
  /// The number of further references that the payload names and that are not in ``references``.
  public var omitted = 0
  /// The name of the dialect that named the first reference; nil if the payload names no media.
  public var dialect: String?
  /// The place in the line where the member is inserted.
  public var splice: Splice
  /// The size in bytes that APNs accepts, less what the service adds.
  public var maximumSize = LineOpener.maximumPayload
  /// Other changes to the line when the member is inserted; usually none.
  public var edits: [LineEdit] = []
  /// Where the media's URLs were read; empty unless they are replaced.
  package var sites: [MediaSite] = []
  /// Whether the payload wakes a service extension. If not, only URLs of its message are replaced.
  package var wakesExtension = true
  /// Whether all media that the payload names are already at public addresses of the store.
  var isPublished = false
  /// The first string that looks like a media URL, if no media was found.
  var unread: UnreadMedia?
  /// What prevents opening another message of the line. Only the first candidate of a line has it.
  var unopened: UnopenedEnvelope?
  /// The texts that the vendor's helper would show if media is attached.
  var overrides = ContentEdit()
  /// The content that is shown; nil if it is read from the line when it is needed.
  var content: NotificationContent?
  /// The position of a payload in an envelope; nil if ``splice`` has it.
  var place: PayloadPlace?

  /// Creates a candidate of a line.
  init(references: [MediaReference], dialect: String?, splice: Splice, place: PayloadPlace?) {
    (self.references, self.dialect, self.splice, self.place) = (references, dialect, splice, place)
  }

  /// Creates a candidate with this content, with no omitted references and no other edits.
  public init(content: NotificationContent, references: [MediaReference], dialect: String?, splice: Splice) {
    self.content = content
    self.references = references
    self.dialect = dialect
    self.splice = splice
  }
}

extension [Payload] {
  /// Why a line with these candidates passes if none of them gets media or other content.
  var reasonToPass: (reason: Reason, cause: LineCause?) {
    if let unopened = first?.unopened { return (.payloadEnvelope, .envelope(unopened)) }
    let unread = lazy.compactMap(\.unread).first
    return unread.map { (.payloadUnreadMedia, .unread($0)) } ?? (.payloadNoMedia, nil)
  }
}

extension Payload {
  /// Returns the content that is shown if nothing is changed.
  ///
  /// - Parameter line: the line of the payload; not needed if the payload was created with content.
  func content(in line: Segment?) -> NotificationContent {
    content ?? line.map { NotificationContent(UnreadContent(of: self, in: $0)) } ?? NotificationContent()
  }
}

extension Segment {
  /// Returns a copy of a range of the bytes.
  func bytes(in range: Range<Int>) -> [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0[range]) }
  }
}
