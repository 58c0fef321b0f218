/// The history of a payload. Times are wall clock times since 1970.
public struct PayloadHistory: Hashable, Sendable {
  /// The state of a payload, or of the delivery of its result.
  public enum Standing: String, Sendable {
    /// Can be leased now.
    case ready
    /// Not due yet.
    case waiting
    /// Leased to a worker or a deliverer.
    case leased
  }

  /// The result of a payload, and its delivery.
  public struct Result: Hashable, Sendable {
    /// A raw value of ``Attache/Outcome``, or one that this attache does not know.
    public var outcome: String
    /// A raw value of ``Attache/Reason``, or one that this attache does not know; nil when there is none.
    public var reason: String?
    /// Whether workers died while they processed the payload, so that it is not tried again.
    public var isDead: Bool
    /// When the queue accepted the result.
    public var finishedAt: Duration
    /// The state of the delivery; nil when it is over.
    public var delivery: Standing?
    /// How the delivery ended: a raw value of ``DeliveryStatus``, or `read`; nil while it is not
    /// over.
    public var status: String?
    /// The last answer of the sender.
    public var answer: String?
    /// When the delivery ended; nil when it is not over, or the result was read.
    public var deliveredAt: Duration?

    /// Creates a result without delivery data.
    public init(outcome: String, reason: String?, isDead: Bool, finishedAt: Duration) {
      self.outcome = outcome
      self.reason = reason
      self.isDead = isDead
      self.finishedAt = finishedAt
    }
  }

  /// The payload's number in the queue.
  public var id: Int64
  /// When the payload was enqueued.
  public var enqueuedAt: Duration
  /// The payload's priority (``NewPayload/priority``).
  public var priority = 0
  /// The time before which no worker processes the payload; nil when there is none.
  public var notBefore: Duration?
  /// When the payload expires; nil when it never does.
  public var expiresAt: Duration?
  /// The state of the payload; nil when it has a result.
  public var work: Standing?
  /// What people search the payload by (``NewPayload/searchKey``).
  public var searchKey: [UInt8]?
  /// The worker or the deliverer that has the payload or its result; nil when none has.
  public var holder: String?
  /// When the payload or its result becomes ready, because its pause, its start time or its lease ends;
  /// nil when it does not.
  public var dueAt: Duration?
  /// The failed attempts, first to process the payload and then to deliver its result. Each stage
  /// keeps the last ``PayloadEvent/limit``.
  public var tries: [PayloadEvent] = []
  /// The result; nil while there is none.
  public var result: Result?

  /// Creates a history without attempts and without a result.
  public init(id: Int64, enqueuedAt: Duration) {
    self.id = id
    self.enqueuedAt = enqueuedAt
  }
}

/// The bytes of a payload in a queue.
public struct PayloadContent: Hashable, Sendable {
  /// The line as it was enqueued.
  public var line: [UInt8]
  /// The report's record, a JSON object with a line feed; nil without a result.
  public var record: [UInt8]?
  /// The line with its media; nil without a result, or if it is the line as it was enqueued.
  public var output: [UInt8]?

  /// Creates a content from all of its properties.
  public init(line: [UInt8], record: [UInt8]?, output: [UInt8]?) {
    (self.line, self.record, self.output) = (line, record, output)
  }
}
