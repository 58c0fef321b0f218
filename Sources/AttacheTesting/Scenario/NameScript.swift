public import Attache

/// What DNS says of one name: one answer a look-up, the last for all that follow.
public struct NameScript: Sendable, Hashable {
  public enum Answer: Sendable, Hashable {
    case addresses([IPAddress])
    /// The name does not exist.
    case none
    /// The server fails (SERVFAIL).
    case failure
    /// Nothing is ever answered.
    case stall
  }

  public struct Turn: Sendable, Hashable {
    public var answer: Answer
    public var delay: Duration

    public init(_ answer: Answer, delay: Duration = .zero) {
      self.answer = answer
      self.delay = delay
    }
  }

  public var turns: [Turn]

  /// How long an answer may be kept, in seconds; 0 when there is more than one, so that each look-up is a new one.
  public var timeToLive: UInt32 { turns.count > 1 ? 0 : 60 }

  public init(_ turns: [Turn]) {
    self.turns = turns
  }
}
