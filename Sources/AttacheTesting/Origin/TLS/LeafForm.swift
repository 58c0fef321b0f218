/// The purpose of a leaf certificate and its defects.
struct LeafForm: Sendable {
  enum Validity: Sendable {
    case now
    /// It expired a day ago.
    case over
    /// It becomes valid tomorrow.
    case ahead
  }

  /// DNS names and addresses.
  var names: [String]
  var validity = Validity.now
  /// Whether the first name is only the subject's common name, which clients no longer check (RFC
  /// 9525, 6.3).
  var isNamedInSubjectAlone = false
  var isSelfSigned = false
  /// Whether an intermediate certificate signed it that is not sent. The leaf says where to find that.
  var lacksIntermediate = false
  /// Whether the certificate authenticates a client instead of a server.
  var isClient = false
  /// The number of unneeded certificates sent after it, of about 1,000 bytes each.
  var ballast = 0
}
