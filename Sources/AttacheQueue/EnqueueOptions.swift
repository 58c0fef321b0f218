package import Attache

/// How lines become payloads of a queue; what a line's envelope says goes before it.
package struct EnqueueOptions: Sendable {
  /// Where the payload stands in a line; nil is the whole line, or where the envelope of a push
  /// service has it.
  package var payloadPath: JSONPointer?
  package var priority = NewPayload.usualPriority
  /// Since 1970.
  package var notBefore: Duration?
  /// Since 1970.
  package var expiresAt: Duration?
  package var key = PayloadKey.none
  /// How many lines at the start are in the queue already, so that one among them with a key of its
  /// own is not added.
  package var linesBefore = 0
  /// Whether a line that is too long ends the reading; it is left out otherwise.
  package var stopsAtOverlong = false
  /// Whether the beginning of a line is added when its end did not come in time after a stop; it is
  /// left out otherwise.
  package var keepsUnfinished = true

  package init() {}
}

extension NewPayload {
  /// Which priorities there are: those of APNs, and what lies between.
  package static let priorities = 1...10
  /// The latest moment that is kept, 1 January 2200 since 1970; what expires later does not expire.
  package static let latest = Duration.seconds(7_258_118_400)

  /// A line, with what its envelope says of the delivery.
  init(_ line: [UInt8], envelope: Envelope?, _ options: EnqueueOptions) {
    self.init(line: line)
    let (least, most) = (Self.priorities.lowerBound, Self.priorities.upperBound)
    priority = min(max(envelope?.priority ?? options.priority, least), most)
    notBefore = options.notBefore
    expiresAt = options.expiresAt
    // 0 is "try once and keep nothing", which says nothing of when it is too late. Source:
    // https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
    guard let expiration = envelope?.expiration, expiration > 0 else { return }
    let moment = Duration.seconds(expiration)
    expiresAt = moment < Self.latest ? moment : nil
  }
}
