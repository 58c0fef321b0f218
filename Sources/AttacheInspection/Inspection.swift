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
  /// Whether attache cannot open the envelope, so that its payload is unknown.
  package var isUnopened = false
  /// The dialect that named the first reference, otherwise the one that recognized the payload.
  package var dialect: String?
  /// The vendor of the dialect, for display.
  package var vendor: String?
  package var media: [InspectedMedia] = []
  /// The number of further media references that the payload names.
  package var omitted = 0
  /// The text changes that the vendor's own helper would make.
  package var text: DialectText?
  /// A sentence about a payload that only the app can decrypt; nil for others.
  package var encrypted: String?
  /// The size of the payload in bytes; `maximumSize` is the size that APNs accepts.
  package var size: Int
  package var maximumSize = Inspection.maximumSize
  package var findings: [LintFinding] = []

  /// The maximum payload size that APNs accepts, and the maximum for VoIP, in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  static let (maximumSize, maximumVoIPSize) = (4096, 5120)

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
