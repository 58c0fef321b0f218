/// A POST request.
struct HTTPPost: Sendable {
  /// An `http://` or `https://` URL.
  var url: String
  /// The header fields, as `Name: value`.
  var fields: [String]
  var body: [UInt8]
}

/// The response to a POST request.
struct HTTPReply: Sendable {
  var status: Int
  /// The value of the field Retry-After, at most a week; nil without the field.
  var retryAfter: Duration?
  /// The body, or its beginning.
  var body: [UInt8]
}
