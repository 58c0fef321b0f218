public import Attache

/// The DNS answers for one name: one answer per look-up. The last answer repeats.
public struct NameScript: Sendable, Hashable {
  /// An answer to a look-up.
  public enum Answer: Sendable, Hashable {
    /// The name has these addresses.
    case addresses([IPAddress])
    /// The name is an alias for the first of these names, which is an alias for the next. The last
    /// name has the addresses.
    case aliases([String], [IPAddress])
    /// The name is an alias for itself.
    case loop
    /// The name does not exist.
    case none
    /// The name exists but has no address.
    case noData
    /// The server fails (SERVFAIL).
    case failure
    /// No answer is ever sent.
    case stall
    /// The answer is too long for a datagram, and TCP is refused for every name. It requires a
    /// scenario with its own network.
    case truncated
  }

  /// An answer with its timing.
  public struct Turn: Sendable, Hashable {
    /// The answer to the look-up.
    public var answer: Answer
    /// The time before the answer is sent.
    public var delay: Duration
    /// The time to live, in seconds. It is used only when no other turn exists.
    public var timeToLive: UInt32

    /// Creates a turn; `timeToLive` is in seconds.
    public init(_ answer: Answer, delay: Duration = .zero, timeToLive: UInt32 = 60) {
      self.answer = answer
      self.delay = delay
      self.timeToLive = timeToLive
    }
  }

  /// The turns in order, one per look-up. The last one repeats.
  public var turns: [Turn]

  /// The time to live, in seconds. It is 0 when there are several turns, so that each look-up sends
  /// a new query.
  public var timeToLive: UInt32 { turns.count > 1 ? 0 : turns.first?.timeToLive ?? 0 }

  /// Whether a name server with this script refuses TCP.
  var refusesTCP: Bool { turns.contains { $0.answer == .truncated } }

  /// Creates a script from its turns.
  public init(_ turns: [Turn]) {
    self.turns = turns
  }
}
