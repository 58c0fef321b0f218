/// What a leaf certificate is for, and what is wrong with it.
struct LeafForm: Sendable {
  enum Validity: Sendable {
    case now
    /// It was over a day ago.
    case over
    /// It begins tomorrow.
    case ahead
  }

  /// DNS names and addresses.
  var names: [String]
  var validity = Validity.now
  /// Whether the first name stands as the subject's common name and nowhere else, where clients
  /// look no more (RFC 9525, 6.3).
  var isNamedInSubjectAlone = false
  var isSelfSigned = false
  /// Whether it proves who a client is, in the place of a server.
  var isClient = false
  /// How many certificates of about 1,000 bytes are sent behind it that nobody needs.
  var ballast = 0
}
