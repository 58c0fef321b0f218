/// The role of a queue for a reader of results.
public protocol ResultReading: HoldListing {
  /// Returns a page of results in the order enqueued.
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage

  /// Marks results as read, which counts as delivered. The queue then needs no holds for them.
  ///
  /// - Parameter ids: any numbers. Payloads without a result are ignored.
  /// - Returns: the holds that no unread result uses any more. The caller removes
  ///   these files.
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String]
}

/// The files with which results hold attachments in a store (``AttachmentStore/hold(_:for:)``).
///
/// A hold is a file of one machine, named by its absolute path there. So a queue on a server has
/// none.
public protocol HoldListing: QueueHandle {
  /// Returns the path of one hold, if there is any. Its folder must be locked before
  /// holds are released.
  func anyHold() throws(QueueError) -> String?

  /// Returns the holds among `paths` that no result uses. Each path is absolute.
  func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String]
}

extension HoldListing {
  /// Nil, as for a queue on a server.
  public func anyHold() throws(QueueError) -> String? { nil }

  /// All paths, as for a queue on a server.
  public func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] { paths }
}
