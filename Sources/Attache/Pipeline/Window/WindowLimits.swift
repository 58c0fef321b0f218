/// The limits of the window, and its order.
struct WindowLimits: Sendable {
  /// The maximum number of undecided payloads.
  var jobs = 256
  /// The maximum number of decided bytes that wait for an earlier line.
  var windowBytes = 8 << 20
  /// Whether lines are written in input order; otherwise as soon as they are decided.
  var isOrdered = true
  /// The time from a line's entry into the window to its deadline.
  var budget: Duration = .seconds(30)
  /// Whether there is a report, so that the kind of each passing line must be stored.
  var isReporting = false

  /// The maximum number of bytes that wait only for the writer. More bytes would only be pushed out
  /// of the processor's cache. The limit keeps the process small if the consumer is slower than the
  /// producer.
  var backlogBytes: Int { min(windowBytes, 1 << 20) }

  /// The maximum number of bytes of undecided lines. A line may have 1 MiB, so the number of jobs
  /// alone does not limit memory. APNs accepts payloads of 4,096 bytes, so lines that can be sent
  /// never reach this limit.
  var undecidedBytes: Int { max(windowBytes, jobs * (8 << 10)) }
}
