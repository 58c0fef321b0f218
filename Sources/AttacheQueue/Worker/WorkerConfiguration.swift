public import Attache

/// The options of a worker.
public struct WorkerConfiguration: Sendable {
  /// How each payload is processed. The window, the order and the report of the filter are not
  /// used.
  public var filter = FilterConfiguration()
  /// The maximum number of attempts for a payload whose media failed temporarily, including the
  /// first.
  public var attempts = 3
  /// The number of workers that may die while they hold only this payload, before it is dead.
  public var poisonAfter = 3
  /// Whether attachments are on disk before their result is (not with `off`).
  public var sync = SyncChoice.group
  /// Whether the store holds the files of results until they are read. It need not when they are in
  /// a bucket. It never does for a queue on a server, whatever this says.
  public var holdsFiles = true
  /// The queue: its name in messages, and in the store that holds attachments for it.
  public var queue: QueueLocation
  /// Whether the queue exists after the run, so that its payloads can be requeued.
  public var keepsQueue = true
  /// Whether to end the run when every payload has a result.
  public var isOnce = false

  /// How long a worker claims nothing after the machine failed, for example because of a full disk.
  public static let pause = Duration.seconds(5)
  /// A different pause, for tests.
  package var pause = WorkerConfiguration.pause

  /// Creates the default configuration for a queue.
  public init(queue: QueueLocation) {
    self.queue = queue
  }

  /// The duration of a lease: twice the deadline of a payload, plus 5 s for the work around it.
  var leaseSpan: Duration { filter.deadline * 2 + .seconds(5) }
}

/// The counts of a worker's run.
public struct WorkerResult: Sendable {
  /// The outcomes of the payloads.
  public var summary = Summary()
  /// The duration of the run.
  public var elapsed = Duration.zero
  /// Payloads that were given back for a retry.
  public var postponed = 0
  /// Results that were refused, because another worker had taken over the payload.
  public var refused = 0
  /// Whether the queue has payloads without a result.
  public var isWorkLeft = false

  /// Creates a result of zero payloads.
  public init() {}

  /// A summary in one line: the filter's summary, and the counts that only a queue has.
  public var text: String {
    let postponed = postponed > 0 ? "; \(postponed) to retry" : ""
    let refused = refused > 0 ? "; \(refused) refused, since another worker had taken over" : ""
    return summary.text(elapsed: elapsed) + postponed + refused
  }
}
