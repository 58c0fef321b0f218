/// The role of a queue for a program that adds payloads.
public protocol PayloadIntake: QueueHandle {
  /// Adds payloads behind all others.
  ///
  /// - Returns: the number of payloads added. The others have a key that the queue has seen.
  /// - Throws: ``QueueError``. After ``QueueError/unknown(_:)``, only this handle recognizes
  ///   payloads without a key when the call is repeated.
  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int

  /// Returns how many of these keys belong to payloads in the queue.
  func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int
}
