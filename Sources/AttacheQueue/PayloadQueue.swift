public import Attache

/// Payloads that wait for a worker, and the results of payloads that were processed.
///
/// A payload is *ready*, then *leased* to a worker, and then *done*. It is *dead* instead when
/// workers died while they processed it. A done or dead payload has exactly one result.
///
/// A call that throws has changed nothing, except that `purge` keeps the steps that it has
/// completed. A call for several payloads changes those that it accepts and names the others:
/// leases that the worker no longer holds, and keys that the queue has seen. A call blocks until
/// that is done. Call from any thread, but never from a thread that must meet a deadline. Claims
/// can be expensive, so a worker claims many payloads at a time.
///
/// The queue's own clock, which may differ from the caller's, measures spans of time such as the
/// duration of a lease. Times such as not-before and expiry are wall clock times, because the
/// sender wrote them.
public protocol PayloadQueue: AnyObject, Sendable {
  /// Adds payloads behind all others.
  ///
  /// - Returns: the number of payloads added. The others have a key that the queue has seen.
  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int

  /// Returns how many of these keys belong to payloads in the queue.
  func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int

  /// Leases payloads to this worker. These are payloads that are ready and due, in the order of
  /// priority (highest first) and then enqueuing, and payloads whose lease ended or whose holder
  /// has gone. A death is counted only for a holder that is known to have died. The call also
  /// extends this worker's own expired leases, because a claim shows that the worker lives.
  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim

  /// Extends leases to a span from now.
  ///
  /// - Returns: the leases that this worker no longer holds.
  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>

  /// Stores results. Each result and the state of its payload change together.
  ///
  /// - Returns: the leases that the worker no longer held. Their results were refused.
  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken>

  /// Gives leased payloads back. They are ready again, after their delay if they have one.
  ///
  /// - Returns: the leases that the worker no longer held.
  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken>

  /// Returns a page of results in the order enqueued.
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage

  /// Marks results as read, which counts as delivered. The queue then needs no holds for them.
  ///
  /// - Parameter ids: any numbers. Payloads without a result are ignored.
  /// - Returns: the holds that no unread result uses any more. The caller removes these files.
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String]

  // MARK: Delivery

  /// Takes a share in the undelivered results, until ``close()``. A reader or deliverer calls this
  /// once, before it claims or reads anything.
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` when others hold a share that conflicts with this
  ///   one.
  func shareDelivery(_ share: DeliveryShare) throws(QueueError)

  /// Stores the fate of results that are leased to this deliverer, and leases more results to it.
  /// These are results that are ready and due, in the order of priority (highest first) and then
  /// decision, and results whose lease ended or whose holder has gone.
  ///
  /// - Parameter request: what to lease; nil leases nothing.
  func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim

  /// Extends leases of deliveries to a span from now.
  ///
  /// - Returns: the leases that this deliverer no longer holds.
  func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>

  /// Requeues deliveries that were dropped, or given up because senders ended.
  ///
  /// - Returns: the number of results.
  func redeliver() throws(QueueError) -> Int

  /// Returns the history of a payload.
  ///
  /// - Returns: nil when the queue does not have the payload.
  func history(of name: PayloadName) throws(QueueError) -> PayloadHistory?

  /// Returns payloads that were given up because workers or senders ended while they had them.
  ///
  /// - Parameters:
  ///   - id: only payloads with a greater number, in the order enqueued.
  ///   - limit: the maximum number of payloads.
  func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory]

  // MARK: Holds

  /// Returns the path of one hold, if there is any. Its folder must be locked before holds are
  /// released.
  func anyHold() throws(QueueError) -> String?

  /// Returns the holds among `paths` that no result uses. Each path is absolute.
  func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String]

  /// Returns the number of payloads in each state.
  func counts() throws(QueueError) -> QueueCounts

  /// Requeues payloads that fell back, in their old place in the order. Deletes their results and
  /// attempt counts.
  ///
  /// - Parameter reason: only payloads with this reason; nil means every fallback, and dead
  ///   payloads.
  /// - Returns: the number of payloads.
  func retry(_ reason: Reason?) throws(QueueError) -> Int

  /// Deletes payloads whose results are older than a span, and releases their holds. Keeps payloads
  /// that a deliverer holds.
  ///
  /// - Parameter includesUndelivered: whether to delete payloads whose results were neither
  ///   delivered nor read.
  /// - Returns: the number of payloads, and the holds that no unread result uses any more. The
  ///   caller removes these files.
  func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String])

  /// Returns when all changes so far would survive a power failure. Returns at once with
  /// ``SyncChoice/off``.
  func sync() throws(QueueError)

  /// Closes the queue in good order. The worker's remaining leases are given back if the queue can
  /// be written, and count as no death. Call nothing after it.
  func close()
}

/// When a change is safe from a power failure. A crashed process never loses data, with any choice.
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
