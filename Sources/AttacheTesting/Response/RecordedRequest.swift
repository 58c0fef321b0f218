public import Attache

/// A field of an HTTP header.
public struct HeaderField: Sendable, Hashable {
  /// The name as sent.
  public var name: String
  /// The value without surrounding white space.
  public var value: String

  /// Creates a field with this name and value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request as the origin received it.
public struct RecordedRequest: Sendable {
  /// The method as sent, such as `GET` or `HEAD`.
  public var method: String
  /// The request target as sent: path and query.
  public var target: String
  /// The fields in the order sent. Over HTTP/2, names are in lower case and `:authority` is `host`.
  public var fields: [HeaderField]
  /// The time at which the whole request had been read.
  public var arrival: MonotonicInstant
  /// The number of the connection that carried the request; the first is 1.
  public var connection: Int
  /// The HTTP version: `1.0`, `1.1` or `2`.
  public var httpVersion: String

  /// The target without its query.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// Returns the value of the first field with this name, ignoring case; nil when there is none.
  public func field(_ name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
