package import Attache

/// How lines become payloads of a queue. The values of a line's envelope take precedence over the
/// options.
package struct EnqueueOptions: Sendable {
  /// The place of the payload in a line. Nil means the whole line, or the place that the envelope
  /// of a push service uses.
  package var payloadPath: JSONPointer?
  /// The priority of a line whose envelope has none.
  package var priority = NewPayload.usualPriority
  /// The start time of each payload, since 1970.
  package var notBefore: Duration?
  /// The expiry of a line whose envelope has none, since 1970.
  package var expiresAt: Duration?
  /// How each payload gets its key.
  package var key = PayloadKey.none
  /// What people search each payload by.
  package var searchKey = PayloadKey.none
  /// The number of lines at the start that are already in the queue. If the queue does not know the
  /// key of one of these lines, the enqueuer does not add it and fails
  /// (``EnqueueError/changed(line:)``).
  package var linesBefore = 0
  /// Whether a line that is too long ends the reading. Otherwise it is skipped.
  package var stopsAtOverlong = false
  /// Whether to add the beginning of a line whose end did not arrive in time after a stop.
  /// Otherwise it is skipped.
  package var keepsUnfinished = true

  package init() {}
}

extension NewPayload {
  /// The valid priorities: those of APNs, and the values between them.
  package static let priorities = 1...10
  /// The latest time that is stored: 1 January 2200, since 1970. A later expiry means no expiry.
  package static let latest = Duration.seconds(7_258_118_400)

  /// Creates a payload from a line and the delivery fields of its envelope.
  init(_ line: [UInt8], envelope: Envelope?, _ options: EnqueueOptions) {
    self.init(line: line)
    let (least, most) = (Self.priorities.lowerBound, Self.priorities.upperBound)
    priority = min(max(envelope?.priority ?? options.priority, least), most)
    notBefore = options.notBefore
    expiresAt = options.expiresAt
    // 0 means "try once and store nothing", which is not an expiry time. Source:
    // https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
    guard let expiration = envelope?.expiration, expiration > 0 else { return }
    let moment = Duration.seconds(expiration)
    expiresAt = moment < Self.latest ? moment : nil
  }
}
