public import Attache

/// Receives a worker's figures. Called from the worker's threads, partly under a lock; must not
/// block.
public protocol WorkerObserver: Sendable {
  /// A payload has its result in the queue.
  ///
  /// - Parameters:
  ///   - lateness: from its deadline to the moment when it was handed to the queue; negative is
  ///     early.
  ///   - media: what became of each media reference.
  func finished(_ outcome: Outcome, _ reason: Reason?, lateness: Duration, media: [MediaRecord])
  /// A payload was given back for a later try.
  func postponed(_ reason: Reason?)
  /// A result was refused, since the worker no longer held its payload.
  func refused()
  /// So many payloads are held by the worker now.
  func holding(_ payloads: Int)
  /// The machine fails, such as by a full disk, and the worker claims nothing; nil when it goes on.
  func paused(_ why: String?)
}
