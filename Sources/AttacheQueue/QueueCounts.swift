/// How a queue stands.
public struct QueueCounts: Hashable, Sendable {
  /// Payloads that may be claimed now.
  public var ready = 0
  /// Payloads that are ready, but not due yet.
  public var waiting = 0
  public var leased = 0
  public var done = 0
  public var dead = 0
  /// Results that were neither delivered nor read.
  public var unread = 0
  /// Those of them that deliverers hold.
  public var delivering = 0
  /// How long the oldest payload whose result is undelivered has been in the queue; nil when there
  /// is none.
  public var oldestUndelivered: Duration?
  /// How long the oldest payload without a result has been in the queue; nil when every one has a
  /// result.
  public var oldest: Duration?
  /// Results of the last minute.
  public var finishedLastMinute = 0
  /// Results of the last seconds (``recentSpan``).
  public var finishedLately = 0

  /// How far back ``finishedLately`` looks: far enough for a steady number, and near enough to be
  /// the pace of now.
  public static let recentSpan = Duration.seconds(10)

  public init() {}

  /// Payloads without a result.
  public var undecided: Int { ready + waiting + leased }
  /// Results a second, of late.
  public var recentRate: Double { Double(finishedLately) / (Self.recentSpan / .seconds(1)) }
  /// All payloads.
  public var total: Int { undecided + done + dead }
}
