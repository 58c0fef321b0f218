internal import Synchronization

/// The content of a payload that is parsed when a member is first needed, because most extensions
/// only add attachments.
final class UnreadContent: Sendable {
  private final class Parsed: Sendable {
    let members: NotificationContent.Members

    init(_ members: NotificationContent.Members) {
      self.members = members
    }
  }

  private let payload: Payload
  private let line: Segment
  private let read = AtomicLazyReference<Parsed>()

  /// - Parameter line: the line of the payload.
  init(_ payload: Payload, of line: Segment) {
    (self.payload, self.line) = (payload, line)
  }

  /// The values of the payload's members; all absent if there is no memory for a parser.
  var members: NotificationContent.Members {
    (read.load() ?? read.storeIfNil(Parsed(Self.parse(json)))).members
  }

  /// The payload as APNs receives it.
  var json: [UInt8] { payload.json(of: line) }

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

extension Payload {
  /// Returns the content that is shown if nothing is changed.
  ///
  /// - Parameter line: the line of the payload; not needed if the payload was created with content.
  func content(in line: Segment?) -> NotificationContent {
    content ?? line.map { NotificationContent(UnreadContent(self, of: $0)) } ?? NotificationContent()
  }

  /// Returns the payload as APNs receives it.
  fileprivate func json(of line: Segment) -> [UInt8] {
    if let built = place?.built { return built }
    if let place, let text = place.text { return Array(text.source(place.object)) }
    return line.bytes(in: splice.payload)
  }
}

extension Segment {
  /// Returns a copy of a range of the bytes.
  func bytes(in range: Range<Int>) -> [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0[range]) }
  }
}
