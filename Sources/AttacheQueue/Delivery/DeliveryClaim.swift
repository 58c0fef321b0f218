/// What a deliverer asks a queue for.
public struct DeliveryRequest: Sendable {
  /// Results at most.
  public var limit: Int
  /// Bytes of lines at most, except that one result is always given.
  public var maximumBytes: Int
  /// How long the leases last.
  public var span: Duration
  /// Whether a suspect is wanted, one only, for a sender that has nothing else unanswered;
  /// otherwise none is given.
  public var isAlone: Bool
  /// Whether results are given in the order enqueued, and none before an earlier payload that has
  /// no result yet or waits for a later try.
  public var isOrdered: Bool

  public init(limit: Int, maximumBytes: Int = 8_000_000, span: Duration, isAlone: Bool = false, isOrdered: Bool = false) {
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.span = span
    self.isAlone = isAlone
    self.isOrdered = isOrdered
  }
}

/// What a deliverer gets.
public struct DeliveryClaim: Sendable {
  /// In the order to send them; their holder is the deliverer that asked.
  public var deliveries: [Delivery] = []
  /// Whether a suspect waits for somebody who takes it alone.
  public var hasSuspects = false
  /// How long until there may be something to claim of the results that there are. Zero when there
  /// is more than was asked for or a suspect waits; nil when every result is delivered.
  public var next: Duration?
  /// Whether payloads are without a result.
  public var hasUndecided = false
  /// The leases that the deliverer no longer held: what it said of them was refused.
  public var refused: Set<LeaseToken> = []
  /// The holds that no undelivered result has any more; the caller removes these files.
  public var released: [String] = []

  public init() {}
}

/// What became of a result that was leased to a deliverer.
public struct SettledDelivery: Hashable, Sendable {
  public enum Fate: Hashable, Sendable {
    /// It is over. The answer is one line, such as a status or why it was dropped.
    case over(DeliveryStatus, answer: String?)
    /// It is given back, and not claimed before the span has passed, or longer than until it
    /// expires.
    ///
    /// - Parameter tried: why the try that was made of it came to nothing; nil when none was made.
    case returned(after: Duration, tried: String?)
    /// Its sender ended before it answered.
    ///
    /// - Parameter isAlone: whether the sender had nothing else unanswered.
    case senderEnded(isAlone: Bool, tried: String)
  }

  public var token: LeaseToken
  public var fate: Fate

  public init(_ token: LeaseToken, _ fate: Fate) {
    self.token = token
    self.fate = fate
  }

  var isOver: Bool {
    switch fate {
    case .over: true
    case .returned, .senderEnded: false
    }
  }
}

/// How a delivery ended.
public enum DeliveryStatus: String, CaseIterable, Sendable {
  /// The sender took it.
  case delivered
  /// The sender will never take it.
  case dropped
  /// It ended its senders.
  case poison
  /// It expired before it was sent.
  case expired
}

/// A try that came to nothing, in the history of a payload.
public struct PayloadEvent: Hashable, Sendable {
  public enum Stage: Int64, Sendable {
    case work = 0
    case delivery = 1
  }

  public var stage: Stage
  /// Which try it was, from 1.
  public var attempt: Int
  /// Of the wall clock, since 1970.
  public var moment: Duration
  /// What stood in the way, in one line.
  public var text: String

  /// Tries that are remembered for each stage of a payload: the last ones.
  static let limit = 32
  /// Bytes of a text that are remembered.
  static let textLimit = 300

  public init(stage: Stage, attempt: Int, moment: Duration, text: String) {
    self.stage = stage
    self.attempt = attempt
    self.moment = moment
    self.text = text
  }
}
