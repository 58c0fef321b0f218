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

  private let line: Segment
  /// The range in the line of a payload that has no place of its own.
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
