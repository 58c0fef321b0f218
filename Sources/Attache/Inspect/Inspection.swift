/// What attache makes of one payload without touching the network.
package struct Inspection: Hashable, Sendable {
  /// What a payload does when it arrives, or that it is none.
  package enum Kind: Hashable, Sendable {
    case push(PushKind)
    case invalid

    /// The word in JSON.
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

  /// Where the payload begins in the input, counted from 1.
  package var line: Int
  package var kind: Kind
  /// Whether the system would run a service extension for it.
  package var runs = false
  /// Why not, in one sentence without a full stop; nil when it runs.
  package var why: String?
  package var matrix = PushMatrix()
  /// Whether the line brings the output member itself, from an earlier run or from its producer.
  package var isEnriched = false
  /// What is shown, as far as it is known without the app.
  package var content = NotificationContent()
  package var envelope: Envelope?
  /// Whether the envelope is one that attache does not open: of its payload nothing is known.
  package var isUnopened = false
  /// The dialect that named the first reference, else the one that recognised the payload.
  package var dialect: String?
  /// Whose dialect it is, for people.
  package var vendor: String?
  package var media: [InspectedMedia] = []
  /// How many media references more the payload names.
  package var omitted = 0
  /// What the vendor's own helper would make of the text.
  package var text: DialectText?
  /// What a payload is that only the app can read.
  package var encrypted: String?
  /// The bytes of the payload, and how many APNs takes.
  package var size: Int
  package var maximumSize = Inspection.maximumSize
  package var findings: [LintFinding] = []

  /// The largest payload that APNs takes, and the largest for VoIP, in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  static let (maximumSize, maximumVoIPSize) = (4096, 5120)

  init(line: Int, kind: Kind, size: Int) {
    (self.line, self.kind, self.size) = (line, kind, size)
  }
}

/// The three of Apple's keys that decide what a push does, whether each of them has effect.
package struct PushMatrix: Hashable, Sendable {
  /// There is text to show.
  package var alert = false
  package var contentAvailable = false
  package var mutableContent = false
}
