package import Attache

/// The result of inspecting one payload without using the network.
package struct Inspection: Hashable, Sendable {
  /// The effect of a payload on arrival, or that it is not a payload.
  package enum Kind: Hashable, Sendable {
    case push(PushKind)
    case invalid

    /// The name in JSON output.
    package var name: String {
      switch self {
      case .push(.alert): "alert"
      case .push(.soundOrBadge): "sound-or-badge"
      case .push(.silent): "silent"
      case .push(.nothing): "nothing"
      case .invalid: "invalid"
      }
    }
  }

  /// The line where the payload begins in the input, counted from 1.
  package var line: Int
  package var kind: Kind
  /// Whether the system would run a service extension for it.
  package var runs = false
  /// Why no service extension runs, in one sentence without a full stop; nil if one runs.
  package var why: String?
  package var matrix = PushMatrix()
  /// Whether the line already has the output member, from an earlier run or from its producer.
  package var isEnriched = false
  /// The content that is shown, as far as it is known without the app.
  package var content = NotificationContent()
  package var envelope: Envelope?
  /// What the line is instead of a payload, if it has no `aps`.
  var shape: LineCause?
  /// Whether the push is for a Live Activity.
  var isLiveActivity = false
  /// Whether attache cannot open the envelope, so that its payload is unknown.
  package var isUnopened = false
  /// The dialect that named the first reference, otherwise the one that recognized the payload.
  package var dialect: String?
  /// The vendor of the dialect, for display.
  package var vendor: String?
  package var media: [InspectedMedia] = []
  /// The number of further media references that the payload names.
  package var omitted = 0
  /// The values of another type than a vendor's helper reads.
  package var misfits: [MediaMisfit] = []
  /// The strings that look like media URLs and that nothing reads, if attache finds no media in a
  /// payload that asks for a service extension. At most ``maximumUnread``.
  package var unread: [UnreadMedia] = []
  /// The text changes that the vendor's own helper would make.
  package var text: DialectText?
  /// A sentence about a payload that only the app can decrypt; nil for others.
  package var encrypted: String?
  /// The size of the payload in bytes; `maximumSize` is the size that APNs accepts, less what the
  /// service adds.
  package var size: Int
  package var maximumSize = LineOpener.maximumPayload
  /// The size with the member or the public addresses; nil unless the media were fetched.
  package var attachedSize: Int?
  /// Whether it would be too large with them, so that the original is written.
  package var isTooLarge = false
  /// The payload as APNs receives it; nil if it is not known.
  var sent: SentPayload?
  package var findings: [LintFinding] = []

  /// More than the findings that are reported of one code.
  static let maximumUnread = 100

  init(line: Int, kind: Kind, size: Int) {
    (self.line, self.kind, self.size) = (line, kind, size)
  }
}

/// Which of Apple's three keys that decide a push's effect are active.
package struct PushMatrix: Hashable, Sendable {
  /// Whether there is text to show.
  package var alert = false
  package var contentAvailable = false
  package var mutableContent = false
}

/// A payload as APNs receives it, for a trial of its media.
struct SentPayload: Hashable, Sendable {
  let json: [UInt8]
  /// Where the URLs are, if they are replaced.
  let sites: [MediaSite]
  /// Whether the member is the first in its object.
  let isEmptyObject: Bool

  /// Returns the payload, whose line is ``json``.
  func payload(_ inspection: Inspection, _ references: [MediaReference]) -> Payload {
    var splice = Splice(payload: 0..<json.count, isEmptyObject: isEmptyObject)
    splice.payloadCount = inspection.size
    var payload = Payload(content: inspection.content, references: references, dialect: inspection.dialect, splice: splice)
    (payload.sites, payload.maximumSize, payload.wakesExtension) = (sites, inspection.maximumSize, inspection.runs)
    return payload
  }
}
