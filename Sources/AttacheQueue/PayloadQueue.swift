public import Attache

/// Payloads that wait for a worker, and the results of those that had one.
///
/// A payload is *ready*, *leased* to a worker, and then *done*, or *dead* when it ended its
/// workers; a done or dead one has exactly one result. A call that throws has changed nothing,
/// except that `purge` keeps the steps that it has completed. A call for several payloads changes
/// all of those that it does not refuse, and names the others: a lease that the worker no longer
/// holds, a key that the queue has seen. A call blocks until that is done. It may be made from any
/// thread, but never from one that a deadline waits for. Claims can be expensive, so they are made
/// for many payloads at a time. Spans of time, such as a lease's, are measured by the queue's own
/// clock, which need not be the caller's. Moments (not before, expires at) are those of the wall
/// clock, since the sender wrote them.
public protocol PayloadQueue: AnyObject, Sendable {
  /// Adds payloads behind all others.
  ///
  /// - Returns: how many were added; the others have a key that the queue has seen.
  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int

  /// How many of these keys are those of payloads in the queue.
  func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int

  /// Leases payloads to this worker: those that are ready and due, the highest priority first and
  /// then in the order enqueued, and those whose lease has run out or whose holder is known to be
  /// gone. A death is counted for a holder that is known to have died, never for one that lives.
  /// This worker's own leases last on: a claim shows that it lives.
  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim

  /// Has leases last for a span from now on.
  ///
  /// - Returns: those that this worker no longer holds.
  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>

  /// Takes results: each and its payload's state change together.
  ///
  /// - Returns: the leases that the worker no longer held, whose results were refused.
  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken>

  /// Gives leased payloads back: they are ready again.
  ///
  /// - Returns: the leases that the worker no longer held.
  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken>

  /// Results in the order enqueued.
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage

  /// Notes that results were read, which counts as delivered: nothing need be held for them any
  /// longer.
  ///
  /// - Parameter ids: any; those without a result are left alone.
  /// - Returns: the holds that no unread result has any more; the caller removes these files.
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String]

  // MARK: Delivery

  /// Takes a share in the undelivered results, which lasts until ``close()``. Who gives them away
  /// calls it once, before anything is claimed or read.
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` when others have a share that allows no other.
  func shareDelivery(_ share: DeliveryShare) throws(QueueError)

  /// Takes what became of results that are leased to this deliverer, and leases further ones to it:
  /// those that are ready and due, the highest priority first and then as decided, and those whose
  /// holder is gone or too late.
  func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim

  /// Has leases of deliveries last for a span from now on.
  ///
  /// - Returns: those that this deliverer no longer holds.
  func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>

  /// Has results be delivered again whose delivery was dropped, or given up since it ended its
  /// senders.
  ///
  /// - Returns: how many.
  func redeliver() throws(QueueError) -> Int

  /// What has happened to a payload.
  ///
  /// - Returns: nil when the queue does not have it.
  func history(of name: PayloadName) throws(QueueError) -> PayloadHistory?

  /// Payloads that ended their workers, or whose results ended their senders, behind a number, in
  /// the order enqueued.
  func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory]

  // MARK: Holds

  /// One of the holds that results have, if there is any: it says in which folder they are, whose
  /// lock comes before a release of them.
  func anyHold() throws(QueueError) -> String?

  /// Which of these holds no result has; each is an absolute path.
  func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String]

  /// How many payloads are in which state.
  func counts() throws(QueueError) -> QueueCounts

  /// Has payloads that fell back be worked again, in the place they had: their results are
  /// forgotten, and what is counted of their tries.
  ///
  /// - Parameter reason: only those with this reason; nil is every fallback, and the dead.
  /// - Returns: how many.
  func retry(_ reason: Reason?) throws(QueueError) -> Int

  /// Forgets payloads whose results are older than a span, and what is held for them. What a
  /// deliverer holds stays.
  ///
  /// - Parameter includesUndelivered: whether those go too whose results were neither delivered nor
  ///   read.
  /// - Returns: how many, and the holds that no unread result has any more; the caller removes
  ///   these files.
  func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String])

  /// Returns when all that was changed so far outlasts a power failure; at once with
  /// ``SyncChoice/off``.
  func sync() throws(QueueError)

  /// Ends this worker in good order: what it still holds is given back, as far as the queue can be
  /// written, and counts as no death. No other call follows.
  func close()
}

/// What a queue promises beyond the death of a process, which loses nothing in any case: when a
/// change is safe from a power failure.
public enum SyncChoice: String, CaseIterable, Sendable {
  /// When its call returns: no window.
  case always
  /// Within a second (``groupWindow``), and when `enqueue` has ended. What a power failure takes
  /// back is worked again.
  case group
  /// Whenever the system writes it, and not in order: a power failure may take the queue.
  case off

  /// How long changes of ``group`` may be unsafe from a power failure.
  public static let groupWindow = Duration.seconds(1)
}
