/// The size limit of a payload with its attachments, as APNs receives it.
public enum PayloadMaximum: Hashable, Sendable {
  /// What APNs accepts, less ``Envelope/Form/addedBytes``, if the attachments have public addresses.
  /// Without them there is no limit: a program that publishes the files replaces the member.
  case automatic
  /// This number of bytes.
  case bytes(Int)
  /// No limit.
  case unlimited

  /// Parses a size as a user writes it, or `none`.
  package init?(written text: String) {
    if text == "none" {
      self = .unlimited
    } else if let bytes = WrittenByteCount.bytes(text) {
      self = .bytes(Int(bytes))
    } else {
      return nil
    }
  }
}
