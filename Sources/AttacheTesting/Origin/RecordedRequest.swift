public import Attache

/// One field of an HTTP header.
public struct HeaderField: Sendable, Hashable {
  /// The name as it was sent.
  public var name: String
  /// The value without white space around it.
  public var value: String

  /// A field of this name and this value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request as it reached the origin.
public struct RecordedRequest: Sendable {
  /// `GET`, `HEAD` and so on, as it was sent.
  public var method: String
  /// The request target as it was sent: path and query.
  public var target: String
  /// The fields in the order in which they were sent; over HTTP/2 the names are in lower case and
  /// `:authority` is `host`.
  public var fields: [HeaderField]
  /// When the whole request had been read.
  public var arrival: MonotonicInstant
  /// Which of the accepted connections it came on; the first is 1.
  public var connection: Int
  /// `1.0`, `1.1` or `2`.
  public var httpVersion: String

  /// The target without its query.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// The value of the first field of this name, in any case; nil when there is none.
  public func field(_ name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
