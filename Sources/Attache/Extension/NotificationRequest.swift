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

  /// What would be shown were nothing changed.
  public var content: NotificationContent {
    payload.content
  }
}
