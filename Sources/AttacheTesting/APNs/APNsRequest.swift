internal import Attache

/// A request as ``APNsServer`` received it.
public struct APNsRequest: Sendable {
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
  /// The number of requests with this ``identifier`` so far, including this one.
  public var attempt = 1

  /// The device token in the path; empty when there is none.
  public var deviceToken: String {
    let prefix = "/3/device/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
  }

  /// The bundle identifier in the path of a broadcast; nil for a request to a device.
  public var app: String? {
    let prefix = "/4/broadcasts/apps/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }

  /// The value of `apns-id`, or of a broadcast's `apns-request-id`; empty without it.
  public var identifier: String { field(identifierName) ?? "" }

  var identifierName: String { app == nil ? "apns-id" : "apns-request-id" }

  /// Returns the value of the first field with this name; nil when there is none. `name` must be in
  /// lower case.
  public func field(_ name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

/// The answer of ``APNsServer`` to a request that breaks no rule.
public enum APNsAnswer: Sendable, Hashable {
  /// Status 200.
  case delivered
  /// An error as Apple documents it: a status and a reason.
  ///
  /// - Parameters:
  ///   - timestamp: in milliseconds since 1970.
  ///   - retryAfter: the value of the `retry-after` header field.
  case error(Int, String?, timestamp: Int64? = nil, retryAfter: String? = nil)
  /// A status and a body that Apple never sends.
  case body(Int, [UInt8])
  /// Status 200 with this number of header fields of 100 bytes each.
  case fields(Int)
  /// No answer until ``APNsServer/release()``; then 200.
  case hold
  /// RST_STREAM with REFUSED_STREAM: the request was not processed.
  case refusedStream
  /// RST_STREAM with INTERNAL_ERROR.
  case brokenStream
  /// A header block that tries to exhaust its reader.
  case flood(HeaderFlood)
}

/// One of Apple's errors: a status and a reason.
struct APNsRefusal: Error, Hashable {
  var status: Int
  var reason: String

  init(_ status: Int, _ reason: String) {
    (self.status, self.reason) = (status, reason)
  }
}
