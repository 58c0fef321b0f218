public import Attache

/// How a worker works.
public struct WorkerConfiguration: Sendable {
  /// What is done with each payload; its window, its order and its report are the filter's alone.
  public var filter = Filter.Configuration()
  /// Tries of a payload whose media failed for what may pass by itself, the first included.
  public var attempts = 3
  /// Workers that a payload may end while each held nothing else, before it is dead.
  public var poisonAfter = 3
  /// Whether attachments are on disk before their result is.
  public var sync = SyncChoice.group
  /// What the queue is called where the store holds attachments for it.
  public var queueName: String
  /// Whether the queue is there after the run, so that its payloads can be requeued.
  public var keepsQueue = true
  /// Whether the run ends when every payload has a result.
  public var isOnce = false

  /// How long a worker claims nothing after the machine failed, such as by a full disk, before it
  /// tries again.
  public static let pause = Duration.seconds(5)
  /// Another pause, for tests.
  package var pause = WorkerConfiguration.pause

  public init(queueName: String) {
    self.queueName = queueName
  }

  /// How long a lease lasts: what a payload may take, twice, and what lies around it.
  var leaseSpan: Duration { filter.deadline * 2 + .seconds(5) }
}

/// How a worker's run ended.
public struct WorkerResult: Sendable {
  public var summary = Summary()
  public var elapsed = Duration.zero
  /// Payloads that were given back for a later try.
  public var postponed = 0
  /// Results that were refused, since another worker had taken the payload over.
  public var refused = 0
  /// Whether payloads are left without a result.
  public var isWorkLeft = false

  public init() {}

  /// The run in one line, as the filter's summary with what only a queue has.
  public var text: String {
    let postponed = postponed > 0 ? "; \(postponed) tried again later" : ""
    let refused = refused > 0 ? "; \(refused) refused, taken over by another worker" : ""
    return summary.text(elapsed: elapsed) + postponed + refused
  }
}
