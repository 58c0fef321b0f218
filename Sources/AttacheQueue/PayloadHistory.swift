/// What a payload of a queue is called.
public enum PayloadName: Hashable, Sendable {
  /// By its number: 1 for the first payload that was enqueued, and so the number of its line.
  case number(Int64)
  /// By its key (``PayloadKey``).
  case key([UInt8])
}

/// What has happened to a payload. Moments are those of the wall clock, since 1970.
public struct PayloadHistory: Hashable, Sendable {
  /// Where a payload, or its result, stands.
  public enum Standing: String, Sendable {
    case ready
    /// Not due yet.
    case waiting
    /// Somebody has it.
    case leased
  }

  public struct Result: Hashable, Sendable {
    /// A word of ``Attache/Outcome``, or a later version's.
    public var outcome: String
    public var reason: String?
    /// Whether it ended its workers.
    public var isDead: Bool
    public var finishedAt: Duration
    /// Where the delivery stands; nil when it is over.
    public var delivery: Standing?
    /// How the delivery ended: a word of ``DeliveryStatus``, or `read`; nil while it has not.
    public var status: String?
    /// What the sender answered last.
    public var answer: String?
    public var deliveredAt: Duration?

    public init(outcome: String, reason: String?, isDead: Bool, finishedAt: Duration) {
      self.outcome = outcome
      self.reason = reason
      self.isDead = isDead
      self.finishedAt = finishedAt
    }
  }

  /// Its number.
  public var id: Int64
  public var enqueuedAt: Duration
  public var priority = 0
  public var notBefore: Duration?
  public var expiresAt: Duration?
  /// Where it stands; nil when it has a result.
  public var work: Standing?
  /// The tries that came to nothing, of its work and then of its delivery; of each at most the last
  /// ``PayloadEvent/limit``.
  public var tries: [PayloadEvent] = []
  public var result: Result?

  public init(id: Int64, enqueuedAt: Duration) {
    self.id = id
    self.enqueuedAt = enqueuedAt
  }
}
