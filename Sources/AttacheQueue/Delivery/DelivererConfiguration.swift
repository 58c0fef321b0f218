package import Attache

/// The options of a deliverer.
public struct DelivererConfiguration: Sendable {
  /// The maximum number of unanswered results at the sender.
  public var jobs = 64
  /// How long a stopped deliverer waits for the sender's answers.
  public var answerTimeout = Duration.seconds(60)
  /// The number of senders that may end while they have only this result, before the result is
  /// given up.
  public var poisonAfter = 3
  /// How long the attempts of a result may fail, while the sender accepts others, before it is given
  /// up.
  public var giveUpAfter = DelivererConfiguration.giveUpAfter
  /// Whether to send results in the order enqueued.
  public var isOrdered = false
  /// The maximum number of results per second, of all deliverers of the queue together; nil means no limit.
  public var rate: Double?
  /// Whether the sender needs the record and the name of each result.
  package var includesFiles = false
  /// Whether to end the run when every payload has a result and every result is delivered.
  public var isOnce = false

  /// The default of ``giveUpAfter``: a day, as mail servers warn after hours and give up after days, and a
  /// notification is of less use.
  public static let giveUpAfter = Duration.seconds(86_400)
  /// The first pause after the sender refused all results, or the machine failed. It doubles up to
  /// ``longestPause``.
  public static let pause = Duration.seconds(1)
  /// The longest pause after such a failure.
  public static let longestPause = Duration.seconds(60)
  /// A different first pause, for tests.
  package var pause = DelivererConfiguration.pause

  /// Creates the default configuration.
  public init() {}

  /// The duration of a lease: twice the time for an answer, plus 5 s for the work around it.
  var leaseSpan: Duration { answerTimeout * 2 + .seconds(5) }
}

/// The counts of a deliverer's run.
public struct DelivererResult: Hashable, Sendable {
  /// Deliveries that are over, by how they ended.
  public var ended: [DeliveryStatus: Int] = [:]
  /// Delivered results of which the service refused a part.
  public var partlyRefused = 0
  /// Failed attempts that are repeated.
  public var retried = 0
  /// Answers that arrived when this deliverer no longer held the result.
  public var refused = 0
  /// How often a sender was started again.
  public var restarts = 0
  /// The number of answers by their names, such as `status 200`; at the end of the run.
  public var answers: [String: Int] = [:]
  /// The duration of the run.
  public var elapsed = Duration.zero
  /// Whether any result, or a part of one, was dropped or given up, so that somebody gets nothing.
  public var hasDropped: Bool { (ended[.dropped] ?? 0) + (ended[.poison] ?? 0) + (ended[.timedOut] ?? 0) + partlyRefused > 0 }
  /// Whether the queue has payloads without a result, or undelivered results.
  public var isWorkLeft = false

  /// Creates a result of zero deliveries.
  public init() {}

  /// A summary in one line.
  public var text: String {
    let statuses = DeliveryStatus.allCases.filter { ![.timedOut, .cancelled].contains($0) || ended[$0] ?? 0 > 0 }
    let parts = statuses.map { "\($0.rawValue) \(ended[$0] ?? 0)" } + ["retried \(retried)"]
    let refused = refused > 0 ? "; \(refused) refused, since another deliverer had taken over" : ""
    let restarts = restarts > 0 ? "; sender restarted \(restarts) time\(restarts == 1 ? "" : "s")" : ""
    let seconds = (elapsed / .milliseconds(100)).rounded() / 10
    let names = answers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) × \($0.key)" }
    let answers = names.isEmpty ? "" : "; answers: \(names.joined(separator: ", "))"
    return "\(parts.joined(separator: ", ")) in \(seconds) s\(answers)\(restarts)\(refused)"
  }
}

/// Receives events of a deliverer. Called from the deliverer's threads and the sender's, sometimes
/// under a lock.
package protocol DelivererObserver: AnyObject, Sendable {
  func ended(_ status: DeliveryStatus, _ count: Int)
  /// A result was answered, this long after the sender got it.
  func answered(after elapsed: Duration)
  func retried(_ count: Int)
  func refused(_ count: Int)
  /// The number of results that the sender has and has not answered.
  func unanswered(_ count: Int)
  func restarted()
  /// Why no results are sent; nil when the pause ends.
  func paused(_ why: String?)
  /// Since when the first payload in the order has blocked all others; nil when it does not.
  func blocked(since: MonotonicInstant?)
}
