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

extension Payload {
  /// Returns the content that is shown if nothing is changed.
  ///
  /// - Parameter line: the line of the payload; not needed if the payload was created with content.
  func content(in line: Segment?) -> NotificationContent {
    content ?? line.map { NotificationContent(UnreadContent(of: self, in: $0)) } ?? NotificationContent()
  }

  /// Records the edits that make the changes when the line is written, and the payload's new size.
  ///
  /// - Returns: false if the line has no place for one of the changes; nothing is recorded then.
  mutating func apply(_ edit: ContentEdit, in line: Segment) -> Bool {
    var (text, place) = written(in: line)
    if self.place == nil { place.alert = AlertPlace(apsOf: place.object, in: text) }
    guard let made = edit.edits(at: place, in: text), !LineEdit.overlap(made) else { return false }
    edits = place.lineEdits(made)
    splice.payloadCount += made.reduce(0) { $0 + $1.growth }
    return true
  }

  /// Returns the innermost text that contains the payload, and the payload's place in it.
  func written(in line: Segment) -> (text: JSONText, place: PayloadPlace) {
    guard let place else {
      let place = PayloadPlace(start: splice.payload.lowerBound, object: 0..<splice.payload.count)
      return (JSONText(line.bytes(in: splice.payload)), place)
    }
    return (place.text ?? JSONText(line.bytes(in: place.start..<line.count)), place)
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

extension Segment {
  /// Returns a copy of a range of the bytes.
  func bytes(in range: Range<Int>) -> [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0[range]) }
  }
}

/// The place where a member is inserted into a line: before the closing brace of the payload. All
/// other bytes stay the same.
public struct Splice: Hashable, Sendable {
  /// The byte range in the line of the object that receives the member, including both braces.
  public var payload: Range<Int>
  /// Whether that object has no members yet, so that no comma is needed.
  public var isEmptyObject: Bool
  /// The size in bytes of the payload as APNs receives it, unescaped and without the member.
  public var payloadCount: Int
  /// The byte offset of the closing brace. The member is inserted before this byte.
  public var offset: Int
  /// The number of nested JSON strings around the object. The member is escaped that many times.
  public var depth = 0
  /// The name of a member to create in the object; the new member then goes inside it. Nil if the
  /// object receives the member directly.
  public var wrapper: String?
  /// The byte offset of a second place that receives the same bytes, before or after the first.
  public var twin: Int?

  /// Creates a place at the end of an object that is in the line itself, not in a string.
  public init(payload: Range<Int>, isEmptyObject: Bool = false) {
    self.payload = payload
    self.isEmptyObject = isEmptyObject
    payloadCount = payload.count
    offset = payload.upperBound - 1
  }

  /// Returns the payload's size in bytes after a member of `memberLength` bytes is inserted, which
  /// is the size that APNs limits.
  public func payloadLength(with memberLength: Int) -> Int {
    payloadCount + memberLength + (isEmptyObject ? 0 : 1)
  }

  /// Returns the bytes to insert before ``offset``: a comma if needed, and the member, wrapped and
  /// escaped as its place requires.
  public func insertion(of member: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = isEmptyObject ? [] : [UInt8(ascii: ",")]
    if let wrapper {
      bytes += "\"\(wrapper)\":{".utf8
      bytes += member
      bytes.append(UInt8(ascii: "}"))
    } else {
      bytes += member
    }
    for _ in 0..<depth { bytes = JSONString.escaped(bytes) }
    return bytes
  }

  /// Returns the edits that insert the member into the line.
  ///
  /// - Parameter member: key, colon and value, as ``AttachmentMember`` writes them.
  public func edits(with member: [UInt8]) -> [LineEdit] {
    let bytes = insertion(of: member)
    return [offset, twin].compactMap { $0.map { LineEdit($0..<$0, bytes) } }
  }
}
