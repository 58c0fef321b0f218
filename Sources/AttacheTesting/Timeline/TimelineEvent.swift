/// An event on the timeline of a scenario.
public struct TimelineEvent: Sendable, Hashable {
  /// The source of an event.
  public enum Actor: String, Sendable {
    /// The payload, DNS, an origin, the disk, the filter, or a decision of the filter.
    case payload, dns, origin, disk, filter, decision
  }

  /// The time since the payloads were written.
  public var at: Duration
  /// The source of the event.
  public var actor: Actor
  /// A short description of the event.
  public var text: String

  /// Creates an event.
  public init(at: Duration, _ actor: Actor, _ text: String) {
    self.at = at
    self.actor = actor
    self.text = text
  }
}
