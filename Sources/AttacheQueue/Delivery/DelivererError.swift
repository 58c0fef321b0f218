/// Why a deliverer's run ended early.
public enum DelivererError: Error, Hashable, Sendable {
  /// The queue refused a call.
  case queue(QueueError)
  /// The sender cannot start. The text says why, in one line.
  case sender(String)
}
