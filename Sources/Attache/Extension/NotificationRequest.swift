/// A payload with its identifier and its deadline: what a service extension receives.
public struct NotificationRequest: Sendable {
  /// What tells this request from others; in the filter, the number of its line.
  public var identifier: String
  public var payload: Payload
  /// When the answer must have been handed on.
  public var deadline: MonotonicInstant

  public init(identifier: String, payload: Payload, deadline: MonotonicInstant) {
    self.identifier = identifier
    self.payload = payload
    self.deadline = deadline
  }

  /// The requests of one line, each for one of its payloads, with one deadline.
  ///
  /// - Parameter identifier: the only request's; of several, each has its number behind a dot,
  ///   counted from 1.
  static func all(_ identifier: String, _ payloads: [Payload], deadline: MonotonicInstant) -> [NotificationRequest] {
    payloads.enumerated().map { index, payload in
      let own = payloads.count == 1 ? identifier : "\(identifier).\(index + 1)"
      return NotificationRequest(identifier: own, payload: payload, deadline: deadline)
    }
  }

  /// What would be shown were nothing changed.
  public var content: NotificationContent {
    payload.content
  }
}
