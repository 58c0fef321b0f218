/// What a deliverer asks a queue for.
public struct DeliveryRequest: Sendable {
  /// The maximum number of results.
  public var limit: Int
  /// The maximum total length of the lines, in bytes. The first result is returned whatever its
  /// length.
  public var maximumBytes: Int
  /// The duration of the leases.
  public var span: Duration
  /// Whether to lease one suspect, for a sender that has nothing else unanswered. Otherwise no
  /// suspects are leased.
  public var isAlone: Bool
  /// Whether to return results in the order enqueued, and none behind an earlier payload that has
  /// no result yet or waits for a retry.
  public var isOrdered: Bool
  /// Whether to return the record and the name of each result too.
  public var includesFiles = false
  /// The maximum number of results per second that all deliverers of the queue together may have; nil
  /// means no limit.
  public var rate: Double?

  /// Creates a request. By default the limit of bytes is 8 MB, suspects are excluded, and the order
  /// is free.
  public init(limit: Int, maximumBytes: Int = 8_000_000, span: Duration, isAlone: Bool = false, isOrdered: Bool = false) {
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.span = span
    self.isAlone = isAlone
    self.isOrdered = isOrdered
  }
}

/// What a queue returns to a deliverer's request.
public struct DeliveryClaim: Sendable {
  /// The results leased to the requesting deliverer, in the order to send them.
  public var deliveries: [Delivery] = []
  /// Whether a suspect is ready for a deliverer that leases it alone.
  public var hasSuspects = false
  /// How long until an existing result may become claimable. Zero when more results are ready than
  /// were requested, or a suspect is ready. Nil when every result is delivered.
  public var next: Duration?
  /// Whether any payload has no result.
  public var hasUndecided = false
  /// The operator's pause of the delivery. No results are leased then.
  public var pause: QueuePause?
  /// The leases that the deliverer no longer held. Their dispositions were refused.
  public var refused: Set<LeaseToken> = []
  /// The holds that no undelivered result uses any more. The caller removes these files.
  public var released: [String] = []

  /// Creates an empty claim.
  public init() {}
}

/// The disposition of a result that was leased to a deliverer.
public struct SettledDelivery: Hashable, Sendable {
  /// What became of a delivery.
  public enum Disposition: Hashable, Sendable {
    /// The delivery is over. The answer is one line, such as a status or the reason of a drop.
    case over(DeliveryStatus, answer: String?)
    /// The result is given back. It is not claimed again until the span has passed or the payload
    /// expires.
    ///
    /// - Parameters:
    ///   - tried: why the attempt failed; nil when there was none.
    ///   - counts: whether the time since the attempt before counts for giving up
    ///     (``Delivery/triedFor``).
    case returned(after: Duration, tried: String?, counts: Bool = false)
    /// The sender ended before it answered.
    ///
    /// - Parameters:
    ///   - isAlone: whether the sender had nothing else unanswered.
    ///   - tried: why the attempt failed.
    case senderEnded(isAlone: Bool, tried: String)
  }

  /// The lease that ends.
  public var token: LeaseToken
  /// What became of the delivery.
  public var disposition: Disposition

  /// Creates the disposition of a lease.
  public init(_ token: LeaseToken, _ disposition: Disposition) {
    self.token = token
    self.disposition = disposition
  }

  var isOver: Bool {
    switch disposition {
    case .over: true
    case .returned, .senderEnded: false
    }
  }
}

/// How a delivery ended.
public enum DeliveryStatus: String, CaseIterable, Sendable {
  /// The sender delivered it.
  case delivered
  /// The sender can never deliver it.
  case dropped
  /// It was given up because too many senders ended while they had only this result.
  case poison
  /// It expired before it was sent.
  case expired
  /// It was given up, because its attempts failed for too long while others succeeded.
  case timedOut = "timed-out"
  /// An operator cancelled it.
  case cancelled
}

/// A failed attempt in the history of a payload.
public struct PayloadEvent: Hashable, Sendable {
  /// What the attempt was for.
  public enum Stage: Int64, CaseIterable, Sendable {
    /// Processing the payload.
    case work = 0
    /// Delivering its result.
    case delivery = 1
  }

  /// What the attempt was for.
  public var stage: Stage
  /// The number of the attempt, from 1.
  public var attempt: Int
  /// The wall clock time of the failure, since 1970.
  public var moment: Duration
  /// Why the attempt failed, in one line.
  public var text: String

  /// The number of attempts that are stored for each stage of a payload: the last ones.
  package static let limit = 32
  /// The maximum length of a stored text, in bytes.
  package static let textLimit = 300

  /// Creates an event from all of its properties.
  public init(stage: Stage, attempt: Int, moment: Duration, text: String) {
    self.stage = stage
    self.attempt = attempt
    self.moment = moment
    self.text = text
  }
}
