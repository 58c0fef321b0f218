/// A request as ``PushServer`` received it.
public struct PushServerRequest: Sendable {
  /// The request target as sent.
  public var path: String
  /// The request method, such as `POST`.
  public var method: String
  /// The header fields in the order sent, with names in lower case.
  public var fields: [HeaderField]
  /// The request body; empty when there is none.
  public var body: [UInt8]
  /// The number of the connection that carried the request; the first is 1.
  public var connection: Int
  /// The stream's number on the connection: 1, 3, 5 and so on.
  public var stream: Int
  /// The client's address and port, such as `127.0.0.1:53412`.
  public internal(set) var client = ""
  /// The number of requests with this ``identifier`` so far, including this one.
  public var attempt = 1

  /// The device token: for Apple, in the path; for Google, `token` of the message. Empty when there
  /// is none.
  public internal(set) var deviceToken = ""
  /// The device token, a broadcast's channel, or the topic or the condition of Google's message; empty
  /// when there is none.
  public internal(set) var receiver = ""
  /// What identifies the request in the server's counts; empty without it.
  ///
  /// For Apple, it is the value of `apns-id`, or of a broadcast's `apns-request-id`. Google's messages
  /// have no identifier, so it is the ``receiver``.
  public internal(set) var identifier = ""
  /// The server's port.
  var port = 0

  /// The bundle identifier in the path of a broadcast by Apple; nil for any other request.
  public var app: String? {
    let prefix = "/4/broadcasts/apps/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }

  /// Returns the value of the first field with this name; nil when there is none. `name` must be in
  /// lower case.
  public func field(_ name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

/// The answer of ``PushServer`` to a request that breaks no rule.
public enum PushServerAnswer: Sendable, Hashable {
  /// Status 200.
  case delivered
  /// An error as Apple or Google documents it: a status, and Apple's reason or Google's error code.
  ///
  /// Without an error code, Google's error has no details.
  ///
  /// - Parameters:
  ///   - timestamp: in milliseconds since 1970. Google's errors have none.
  ///   - retryAfter: the value of the `retry-after` header field.
  case error(Int, String?, timestamp: Int64? = nil, retryAfter: String? = nil)
  /// A status and a body that the service never sends.
  case body(Int, [UInt8])
  /// Status 200 with this number of header fields of 100 bytes each.
  case fields(Int)
  /// No answer until ``PushServer/release()``; then 200.
  case hold
  /// RST_STREAM with REFUSED_STREAM: the request was not processed.
  case refusedStream
  /// RST_STREAM with INTERNAL_ERROR.
  case brokenStream
  /// A header block that tries to exhaust its reader.
  case flood(HeaderFlood)
}
