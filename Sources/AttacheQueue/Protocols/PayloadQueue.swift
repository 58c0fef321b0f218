/// Payloads that wait for a worker, and the results of payloads that were processed.
///
/// A payload is *ready*, then *leased* to a worker, and then *done*. It is *dead* instead when
/// workers died while they processed it. A done or dead payload has exactly one result.
///
/// A call that throws has changed nothing, with two exceptions. `purge`, and on a server `retry` and
/// `redeliver`, keep the steps that they have completed. After ``QueueError/unknown(_:)``, the call
/// has changed everything or nothing, and repeating it on the same handle changes nothing twice.
///
/// A call for several payloads changes those that it accepts and names the others: leases that the
/// worker no longer holds, and keys that the queue has seen. A call blocks until that is done. Call
/// from any thread, but never from a thread that must meet a deadline. Claims can be expensive, so a
/// worker claims many payloads at a time.
///
/// The queue's own clock, which may differ from the caller's, measures spans of time such as the
/// duration of a lease. Times such as not-before and expiry are wall clock times, because the
/// sender wrote them.
///
/// Each role is a protocol of its own, so that a consumer can say what it needs.
public protocol PayloadQueue: PayloadIntake, PayloadLeasing, ResultReading, ResultDelivery, QueueAdministration {}

/// What every role of a queue has.
public protocol QueueHandle: AnyObject, Sendable {
  /// What this kind of queue does differently from others.
  var capabilities: QueueCapabilities { get }

  /// Identifies the queue among all queues, from whichever machine and by whatever address it was
  /// opened. It stays the same as long as the queue exists.
  var identity: String { get }

  /// Returns when all changes so far would survive a power failure. Returns at once with
  /// ``SyncChoice/off``.
  func sync() throws(QueueError)

  /// Lets calls that wait for a server that is away give up at once, and later ones too. Safe from
  /// any thread.
  func stopWaiting()

  /// Closes the queue in good order. The worker's remaining leases are given back if the queue can
  /// be written, and count as no death. Call nothing after it.
  func close()
}

extension QueueHandle {
  /// Does nothing, as for a queue that waits for no server.
  public func stopWaiting() {}
}

/// What a kind of queue does differently from others.
public struct QueueCapabilities: Hashable, Sendable {
  /// Whether a start of the machine ends the leases and the delays that began before it. False for
  /// a queue on a server, which measures delays by its own clock.
  public var leasesEndWithMachine: Bool

  /// Creates the capabilities of a kind.
  public init(leasesEndWithMachine: Bool) {
    self.leasesEndWithMachine = leasesEndWithMachine
  }
}

/// When a change is safe from a power failure. A crashed process never loses data, with any choice.
/// The choices describe a queue with a file. A queue on a server documents its own limits.
public enum SyncChoice: String, CaseIterable, Sendable {
  /// When the call that made the change returns.
  case always
  /// Within a second (``groupWindow``) if the queue is called at least that often, and when
  /// `attache enqueue` has ended. After a power failure, lost work is done again.
  case group
  /// When the system writes the change, and in any order. A power failure may lose or damage the
  /// whole queue.
  case off

  /// The longest time for which a change with ``group`` is not safe from a power failure.
  public static let groupWindow = Duration.seconds(1)
}
