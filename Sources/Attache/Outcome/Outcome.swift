/// The result of one payload.
public enum Outcome: String, CaseIterable, Sendable {
  /// At least one attachment was added, or a service extension changed the content.
  case attached
  /// The payload asked for media, but none was attached. The original was written, with a
  /// ``Reason``.
  case fallback
  /// There was nothing to do. The original was written.
  case passthrough
  /// The line is not a JSON object. It was written unchanged.
  case invalid
}

extension Outcome {
  /// The outcome of a line that the reader's thread passes unchanged, for that reason.
  init(ofPassingLine reason: Reason) {
    self = reason == .payloadJSON ? .invalid : reason == .cancelled ? .fallback : .passthrough
  }
}
