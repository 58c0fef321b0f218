/// The input of a service extension: a payload with its identifier and its deadline.
public struct NotificationRequest: Sendable {
  /// An identifier for this request; in the filter, the number of its line.
  public var identifier: String
  /// The payload to enrich.
  public var payload: Payload
  /// The time by which the answer must be delivered.
  public var deadline: MonotonicInstant
  /// The content that the payload's line has; nil if the payload was created with content.
  private var contentOfLine: NotificationContent?
  private var line: Segment?

  /// Creates a request.
  public init(identifier: String, payload: Payload, deadline: MonotonicInstant) {
    self.identifier = identifier
    self.payload = payload
    self.deadline = deadline
  }

  private init(identifier: String, payload: Payload, deadline: MonotonicInstant, line: Segment) {
    (self.identifier, self.deadline) = (identifier, deadline)
    contentOfLine = payload.content(in: line)
    (self.payload, self.line) = (payload, line)
  }

  /// Returns the requests of one line, one for each of its payloads, with the same deadline.
  ///
  /// - Parameter identifier: the identifier of a single request. If there are several, a dot and
  ///   the request's number, counted from 1, are appended.
  static func all(_ identifier: String, _ payloads: [Payload], of line: Segment, deadline: MonotonicInstant) -> [NotificationRequest] {
    payloads.indices.map { index in
      let own = payloads.count == 1 ? identifier : "\(identifier).\(index + 1)"
      return NotificationRequest(identifier: own, payload: payloads[index], deadline: deadline, line: line)
    }
  }

  /// The content that is shown if nothing is changed. The payload is parsed once, when a member of
  /// the content is first needed.
  public var content: NotificationContent {
    contentOfLine ?? payload.content(in: nil)
  }

  /// The `apns-collapse-id` of the envelope that the payload is in; nil if there is none.
  var collapseID: UntrustedText? {
    guard payload.place != nil, let line else { return nil }
    return DeliveryReader().envelope(of: line.bytes)?.collapseID
  }

  /// Returns where the line has a value of the payload; the place in the payload if there is no line.
  func writtenPlace(of place: JSONPointer) -> JSONPointer {
    line.flatMap { payload.writtenPlace(of: place, in: $0) } ?? place
  }

  /// The payload as APNs receives it.
  var json: [UInt8] {
    (contentOfLine ?? payload.content(in: nil)).json
  }
}
