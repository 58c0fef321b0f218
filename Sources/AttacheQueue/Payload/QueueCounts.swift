/// The number of payloads and results of a queue by state, and its recent activity.
public struct QueueCounts: Hashable, Sendable {
  /// The number of payloads in each state. Payloads that became due since the last claim count as ready.
  private var numbers = [Int](repeating: 0, count: PayloadState.allCases.count)
  /// Results that were neither delivered nor read.
  public var unread = 0
  /// Unread results that deliverers hold.
  public var delivering = 0
  /// How long the oldest payload that is ready, waiting, leased or done has been in the queue. Every payload
  /// whose result is undelivered counts as done here, also a dead one. States without payloads have none.
  public var oldest: [PayloadState: Duration] = [:]
  /// What an operator has paused.
  public var pauses: [QueuePause] = []
  /// Results of the last 60 seconds.
  public var finishedLastMinute = 0
  /// Results of the last ``recentSpan``.
  public var finishedLately = 0

  /// The time that ``finishedLately`` covers: long enough for a steady number, and short enough for
  /// the current rate.
  public static let recentSpan = Duration.seconds(10)

  /// Creates counts of an empty queue.
  public init() {}

  /// The number of payloads in a state.
  public subscript(_ state: PayloadState) -> Int {
    get { numbers[state.index] }
    set { numbers[state.index] = newValue }
  }

  /// Payloads without a result.
  public var undecided: Int { self[.ready] + self[.waiting] + self[.leased] }
  /// Payloads with a result.
  public var decided: Int { PayloadState.decided.reduce(0) { $0 + self[$1] } }
  /// How long the oldest payload without a result has been in the queue; nil when there is none.
  public var oldestUndecided: Duration? { [.ready, .waiting, .leased].compactMap { oldest[$0] }.max() }
  /// Recent results per second.
  public var recentRate: Double { Double(finishedLately) / (Self.recentSpan / .seconds(1)) }
  /// All payloads of the queue.
  public var total: Int { undecided + decided }
}
