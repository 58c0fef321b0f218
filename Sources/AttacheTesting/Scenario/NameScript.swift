public import Attache

/// What DNS says of one name: one answer a look-up, the last for all that follow.
public struct NameScript: Sendable, Hashable {
  public enum Answer: Sendable, Hashable {
    case addresses([IPAddress])
    /// The name stands for the first of these, which stands for the next, and the last has the
    /// addresses.
    case aliases([String], [IPAddress])
    /// The name stands for itself.
    case loop
    /// The name does not exist.
    case none
    /// The name exists and has no address.
    case noData
    /// The server fails (SERVFAIL).
    case failure
    /// Nothing is ever answered.
    case stall
    /// The answer is too long for a datagram, and TCP is refused, for every name; only in a network
    /// of its own.
    case truncated
  }

  public struct Turn: Sendable, Hashable {
    public var answer: Answer
    public var delay: Duration
    /// How long it may be kept, in seconds, unless another one follows.
    public var timeToLive: UInt32

    public init(_ answer: Answer, delay: Duration = .zero, timeToLive: UInt32 = 60) {
      self.answer = answer
      self.delay = delay
      self.timeToLive = timeToLive
    }
  }

  public var turns: [Turn]

  /// How long an answer may be kept, in seconds; 0 when there is more than one, so that each
  /// look-up is a new one.
  public var timeToLive: UInt32 { turns.count > 1 ? 0 : turns.first?.timeToLive ?? 0 }

  /// Whether a name server with this script has no TCP.
  var refusesTCP: Bool { turns.contains { $0.answer == .truncated } }

  public init(_ turns: [Turn]) {
    self.turns = turns
  }
}
