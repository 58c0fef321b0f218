/// The role of a queue for its operator.
public protocol QueueAdministration: HoldListing {
  /// Returns the number of payloads in each state.
  func counts() throws(QueueError) -> QueueCounts

  /// Returns the number of payloads without a result by state and priority, and by worker. The cost
  /// does not grow with the length of the queue.
  func load() throws(QueueError) -> QueueLoad

  /// Finds the first payloads that a filter selects.
  ///
  /// - Parameters:
  ///   - id: only payloads with a greater number.
  ///   - limit: the maximum number of payloads.
  func find(_ filter: PayloadFilter, after id: Int64, limit: Int) throws(QueueError) -> PayloadMatches

  /// Returns the histories of payloads, in the order of their numbers. Leaves out those that the queue does not have.
  func histories(of ids: [Int64]) throws(QueueError) -> [PayloadHistory]

  /// Returns the bytes of a payload; nil when the queue does not have it.
  func content(of id: Int64) throws(QueueError) -> PayloadContent?

  /// Pauses a stage for all workers or deliverers of the queue, until ``resume(_:)``. They finish what they hold.
  ///
  /// - Parameter why: one line for the operators; nil for none.
  func pause(_ stage: PayloadEvent.Stage, why: String?) throws(QueueError)

  /// Ends the pause of a stage.
  ///
  /// - Returns: whether it was paused.
  func resume(_ stage: PayloadEvent.Stage) throws(QueueError) -> Bool

  /// Requeues payloads that have a result, in their old place in the order. Deletes their results and
  /// attempt counts. Leaves out payloads that a deliverer holds.
  ///
  /// The calls that change payloads by their numbers use one transaction. ``PayloadChange`` makes the steps.
  ///
  /// - Returns: the number of payloads.
  func retry(_ ids: [Int64]) throws(QueueError) -> Int

  /// Requeues deliveries that ended without a delivery.
  ///
  /// - Returns: the number of results.
  func redeliver(_ ids: [Int64]) throws(QueueError) -> Int

  /// Ends payloads that are not delivered: those without a result get their original as the result, which
  /// is not delivered. Leaves out payloads that a worker or a deliverer holds.
  ///
  /// - Parameter why: one line for the payload's history.
  /// - Returns: the number of payloads, and the holds that no unread result uses any more. The caller
  ///   removes these files.
  func cancel(_ ids: [Int64], _ why: String) throws(QueueError) -> (payloads: Int, released: [String])

  /// Deletes payloads that have a result, and releases their holds. Leaves out payloads that a deliverer holds.
  ///
  /// - Parameter includesUndelivered: whether to delete payloads whose results were neither
  ///   delivered nor read.
  /// - Returns: the number of payloads, and the holds that no unread result uses any more. The
  ///   caller removes these files.
  func purge(_ ids: [Int64], includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String])
}
