internal import Attache

/// A request as it reached ``APNsServer``.
public struct APNsRequest: Sendable {
  /// The request target as it was sent.
  public var path: String
  public var method: String
  /// The fields in the order in which they were sent, their names in lower case.
  public var fields: [HeaderField]
  public var body: [UInt8]
  /// Which of the accepted connections it came on; the first is 1.
  public var connection: Int
  /// The number of its stream on the connection: 1, 3, 5 and so on.
  public var stream: Int
  /// How often a request with this `apns-id` has come, this one included.
  public var attempt = 1

  /// The device token in the path; empty when there is none.
  public var deviceToken: String {
    let prefix = "/3/device/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
  }

  /// The value of the first field of this name, in lower case; nil when there is none.
  public func field(_ name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

/// What ``APNsServer`` does with a request that breaks no rule.
public enum APNsAnswer: Sendable, Hashable {
  /// 200.
  case delivered
  /// An error as Apple documents them.
  ///
  /// - Parameters:
  ///   - timestamp: in milliseconds since 1970.
  ///   - retryAfter: the value of the header.
  case error(Int, String?, timestamp: Int64? = nil, retryAfter: String? = nil)
  /// A status and a body that Apple would never send.
  case body(Int, [UInt8])
  /// So many header fields of 100 bytes.
  case fields(Int)
  /// Nothing, until ``APNsServer/release()``; then 200.
  case hold
  /// RST_STREAM with REFUSED_STREAM: it was not looked at.
  case refusedStream
  /// RST_STREAM with INTERNAL_ERROR.
  case brokenStream
  /// A header block that is meant to exhaust its reader.
  case flood(HeaderFlood)
}

/// An error of Apple's, with its reason.
struct APNsRefusal: Error, Hashable {
  var status: Int
  var reason: String

  init(_ status: Int, _ reason: String) {
    (self.status, self.reason) = (status, reason)
  }
}
