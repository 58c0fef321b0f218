/// The number of payloads and results of a queue by state, and its recent activity.
public struct QueueCounts: Hashable, Sendable {
  /// Payloads that can be claimed now.
  public var ready = 0
  /// Payloads without a result that are not due yet.
  public var waiting = 0
  /// Payloads that workers hold.
  public var leased = 0
  /// Payloads with a result that are not dead.
  public var done = 0
  /// Payloads that were given up because workers died while they processed them.
  public var dead = 0
  /// Results that were neither delivered nor read.
  public var unread = 0
  /// Unread results that deliverers hold.
  public var delivering = 0
  /// How long the oldest payload with an undelivered result has been in the queue; nil when there
  /// is none.
  public var oldestUndelivered: Duration?
  /// How long the oldest payload without a result has been in the queue; nil when there is none.
  public var oldest: Duration?
  /// Results of the last 60 seconds.
  public var finishedLastMinute = 0
  /// Results of the last ``recentSpan``.
  public var finishedLately = 0

  /// The time that ``finishedLately`` covers: long enough for a steady number, and short enough for
  /// the current rate.
  public static let recentSpan = Duration.seconds(10)

  /// Creates counts of an empty queue.
  public init() {}

  /// Payloads without a result.
  public var undecided: Int { ready + waiting + leased }
  /// Recent results per second.
  public var recentRate: Double { Double(finishedLately) / (Self.recentSpan / .seconds(1)) }
  /// All payloads of the queue.
  public var total: Int { undecided + done + dead }
}
