package import Attache

/// How a deliverer works.
public struct DelivererConfiguration: Sendable {
  /// Results at a sender that are unanswered, at most.
  public var jobs = 64
  /// How long the sender's answers are waited for once the deliverer is stopped.
  public var answerTimeout = Duration.seconds(60)
  /// Senders that a result may end while each had nothing else, before it is given up.
  public var poisonAfter = 3
  /// Whether results are sent in the order enqueued.
  public var isOrdered = false
  /// Results a second, at most; nil is no bound.
  public var rate: Double?
  /// Whether the run ends when every payload has a result and every result is delivered.
  public var isOnce = false

  /// The first pause after the sender refused all, or the machine failed; it doubles up to
  /// ``longestPause``.
  public static let pause = Duration.seconds(1)
  public static let longestPause = Duration.seconds(60)
  /// Another first pause, for tests.
  package var pause = DelivererConfiguration.pause

  public init() {}

  /// How long a lease lasts: what an answer may take, twice, and what lies around it.
  var leaseSpan: Duration { answerTimeout * 2 + .seconds(5) }
}

/// How a deliverer's run ended.
public struct DelivererResult: Hashable, Sendable {
  /// Deliveries that are over, by how they ended.
  public var ended: [DeliveryStatus: Int] = [:]
  /// Tries that came to nothing, and are made again.
  public var retried = 0
  /// Answers that came when the result was no longer this deliverer's.
  public var refused = 0
  /// Senders that were started again.
  public var restarts = 0
  public var elapsed = Duration.zero
  /// Whether payloads are left without a result, or results undelivered.
  public var isWorkLeft = false

  public init() {}

  /// The run in one line.
  public var text: String {
    let parts = DeliveryStatus.allCases.map { "\($0.rawValue) \(ended[$0] ?? 0)" } + ["retried \(retried)"]
    let refused = refused > 0 ? "; \(refused) refused, taken over by another deliverer" : ""
    let restarts = restarts > 0 ? "; sender started again \(restarts) time\(restarts == 1 ? "" : "s")" : ""
    let seconds = (elapsed / .milliseconds(100)).rounded() / 10
    return "\(parts.joined(separator: ", ")) in \(seconds) s\(restarts)\(refused)"
  }
}

/// Hears what a deliverer does, from its thread.
package protocol DelivererObserver: AnyObject, Sendable {
  func ended(_ status: DeliveryStatus, _ count: Int)
  func retried(_ count: Int)
  func refused(_ count: Int)
  /// How many results are at the sender and unanswered.
  func unanswered(_ count: Int)
  func restarted()
  /// Why nothing is sent; nil when results are.
  func paused(_ why: String?)
  /// Since when the first payload in the order has kept all others waiting; nil when none does.
  func blocked(since: MonotonicInstant?)
}
