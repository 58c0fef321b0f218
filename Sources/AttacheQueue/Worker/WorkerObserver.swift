public import Attache

/// What a worker tells whoever keeps its figures. Called from the worker's threads; must not block.
public protocol WorkerObserver: Sendable {
  /// A payload has its result in the queue.
  ///
  /// - Parameters:
  ///   - lateness: from its deadline to the moment when it was handed to the queue; negative is early.
  ///   - media: what became of each media reference.
  func finished(_ outcome: Outcome, _ reason: Reason?, lateness: Duration, media: [MediaRecord])
  /// A payload was given back for a later try.
  func postponed(_ reason: Reason?)
  /// A result was refused, since the worker no longer held its payload.
  func refused()
  /// So many payloads are held by the worker now.
  func holding(_ payloads: Int)
}
