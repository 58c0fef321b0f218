/// The role of a queue for a reader of results.
public protocol ResultReading: HoldListing {
  /// Returns a page of results in the order enqueued.
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage

  /// Marks results as read, which counts as delivered. The queue then needs no holds for them.
  ///
  /// - Parameter ids: any numbers. Payloads without a result are ignored.
  /// - Returns: the holds of this machine that no unread result uses any more. The caller removes
  ///   these files.
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String]
}

/// The files with which results hold attachments in a store (``AttachmentStore/hold(_:for:)``).
///
/// A hold is a file of one machine, named by its absolute path there. A queue that several machines
/// use stores with each hold whose it is, and names a process only the holds of its own machine:
/// here, and wherever a call returns released holds. It keeps the released holds of another machine
/// until a process of that machine calls ``ResultReading/markRead(_:)``,
/// ``ResultDelivery/settle(_:claiming:)`` or ``QueueAdministration/purge(olderThan:includesUndelivered:)``.
public protocol HoldListing: QueueHandle {
  /// Returns the path of one hold of this machine, if there is any. Its folder must be locked before
  /// holds are released.
  func anyHold() throws(QueueError) -> String?

  /// Returns the holds among `paths` that no result of this machine uses. Each path is absolute.
  func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String]
}
