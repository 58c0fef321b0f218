public import Attache

/// Receives a worker's events. Called from the worker's threads, sometimes under a lock. Must not
/// block.
public protocol WorkerObserver: Sendable {
  /// A payload has its result in the queue.
  ///
  /// - Parameters:
  ///   - elapsed: the time from its start until its decision.
  ///   - lateness: the time from its deadline until it was handed to the queue; negative is early.
  ///   - media: the record of each media reference.
  func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, lateness: Duration, media: [MediaRecord])
  /// A payload was given back for a retry.
  func postponed(_ reason: Reason?)
  /// A result was refused, because the worker no longer held its payload.
  func refused()
  /// The number of payloads that the worker holds now.
  func holding(_ payloads: Int)
  /// The machine fails, for example because of a full disk, and the worker claims nothing. Nil when
  /// it continues.
  func paused(_ why: String?)
}
