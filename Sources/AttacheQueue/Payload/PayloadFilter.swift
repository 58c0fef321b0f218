public import Attache

/// Selects payloads of a queue. A payload must meet every condition that is not nil.
public struct PayloadFilter: Hashable, Sendable {
  /// What the payloads are selected for.
  public enum Scope: Hashable, Sendable {
    /// All payloads.
    case all
    /// Payloads that can be processed again: those with a result. Without a state, none that were cancelled
    /// or expired; without a reason and a line either, those that fell back or are dead.
    case retry
    /// Payloads whose result can be delivered again: those whose delivery ended without it. Without a
    /// state, those that were dropped or given up.
    case redelivery
    /// Payloads that are not delivered.
    case cancellation
    /// Payloads whose result is older than the span.
    case purge(olderThan: Duration, includesUndelivered: Bool)
  }

  /// What the payloads are selected for.
  public var scope: Scope
  /// The payload's number.
  public var line: Int64?
  /// The state of the payload.
  public var state: PayloadState?
  /// The reason of the result.
  public var reason: Reason?
  /// A part of the last answer of the sender, or of the last failed attempt's text.
  public var answer: String?
  /// The keys of the payload, of which one must be its own. Nil for any.
  public var keys: [[UInt8]]?
  /// The payload was enqueued at this time since 1970, or later. If the clock was set back, payloads may be
  /// left out that were enqueued before that.
  public var since: Duration?

  /// Creates a filter that selects all payloads of a scope.
  public init(_ scope: Scope = .all) {
    self.scope = scope
  }

  /// Whether the filter selects by anything but its scope.
  public var isEmpty: Bool { line == nil && state == nil && reason == nil && answer == nil && keys == nil && since == nil }
}

/// The payloads that a search found, in the order of their numbers.
public struct PayloadMatches: Hashable, Sendable {
  /// The numbers of the payloads.
  public var ids: [Int64] = []
  /// The number of the last payload that was looked at. The next search begins behind it.
  public var last: Int64
  /// Whether no payload behind the last one can match.
  public var isAtEnd: Bool

  /// Creates matches from all of their properties.
  public init(ids: [Int64] = [], last: Int64, isAtEnd: Bool) {
    (self.ids, self.last, self.isAtEnd) = (ids, last, isAtEnd)
  }
}
