public import Attache

/// The role of a queue for its operator.
public protocol QueueAdministration: HoldListing {
  /// Returns the number of payloads in each state.
  func counts() throws(QueueError) -> QueueCounts

  /// Returns the number of payloads without a result by state and priority, and by worker. The cost
  /// does not grow with the length of the queue.
  func load() throws(QueueError) -> QueueLoad

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

  /// Requeues payloads in which nothing was attached, in their old place in the order. Deletes their results and
  /// attempt counts.
  ///
  /// - Parameter reason: all payloads with this reason, also those that passed; nil means every
  ///   fallback, and dead payloads.
  /// - Returns: the number of payloads. It may be too small when a call whose outcome is unknown is
  ///   repeated.
  func retry(_ reason: Reason?) throws(QueueError) -> Int

  /// Requeues deliveries that were dropped, or given up because senders ended.
  ///
  /// - Returns: the number of results. It may be too small when a call whose outcome is unknown is
  ///   repeated.
  func redeliver() throws(QueueError) -> Int

  /// Deletes payloads whose results are older than a span, and releases their holds. Keeps payloads
  /// that a deliverer holds.
  ///
  /// - Parameter includesUndelivered: whether to delete payloads whose results were neither
  ///   delivered nor read.
  /// - Returns: the number of payloads, and the holds that no unread result uses any more. The
  ///   caller removes these files. The number may be too small when a call whose outcome
  ///   is unknown is repeated.
  func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String])
}
