/// What the window may hold, and how it orders its lines.
struct WindowLimits: Sendable {
  /// Payloads undecided at a time.
  var jobs = 256
  /// Decided bytes that may wait for an earlier line.
  var windowBytes = 8 << 20
  /// Whether lines leave in the order in which they came; else as soon as they are decided.
  var isOrdered = true
  /// The time between a line's taking its place and its deadline.
  var budget: Duration = .seconds(30)
  /// Whether there is a report, so that the fate of each passing line has to be remembered.
  var isReporting = false

  /// Bytes that may wait for nothing but the writer. More would only move out of the processor's
  /// cache: with a consumer that is slower than the producer, the process stays small.
  var backlogBytes: Int { min(windowBytes, 1 << 20) }

  /// Bytes of undecided lines. A line may have 1 MiB, so that the number of jobs alone would not
  /// keep the process small; APNs takes payloads of 4,096 bytes, so that it never counts for lines
  /// that can be sent.
  var undecidedBytes: Int { max(windowBytes, jobs * (8 << 10)) }
}
