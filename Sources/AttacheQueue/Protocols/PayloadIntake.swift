/// The role of a queue for a program that adds payloads.
public protocol PayloadIntake: QueueHandle {
  /// Adds payloads behind all others.
  ///
  /// - Returns: the number of payloads added. The others have a key that the queue has seen.
  /// - Throws: ``QueueError``. After ``QueueError/unknown(_:)``, only this handle recognizes
  ///   payloads without a key when the call is repeated.
  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int

  /// Adds the payloads of a batch of files, and records the batch in the same transaction. Adds nothing
  /// if the batch is recorded.
  ///
  /// - Parameter batch: a unique name.
  /// - Returns: the number of payloads added.
  func enqueue(_ payloads: [NewPayload], batch: String) throws(QueueError) -> Int

  /// Deletes the record of a batch, after its files were removed.
  func forgetBatch(_ batch: String) throws(QueueError)

  /// Returns how many of these keys belong to payloads in the queue.
  func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int
}
