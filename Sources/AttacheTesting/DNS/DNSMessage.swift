public import Attache

/// A DNS message (RFC 1035, 4), limited to what a stub server and its tests need.
public struct DNSMessage: Hashable, Sendable {
  /// The type of a record. The types that the stub supports have names.
  public struct RecordType: RawRepresentable, Hashable, Sendable {
    /// The number in wire format.
    public var rawValue: UInt16

    /// Creates a type from its number in wire format.
    public init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// An IPv4 address.
    public static let a = RecordType(rawValue: 1)
    /// An alias: another name for the same host.
    public static let cname = RecordType(rawValue: 5)
    /// An IPv6 address.
    public static let aaaa = RecordType(rawValue: 28)
  }

  /// The result of a query. The raw value is the number in wire format.
  public enum ResponseCode: UInt8, Sendable {
    /// NOERROR: the query succeeded.
    case success = 0
    /// FORMERR: the server could not parse the query.
    case formatError = 1
    /// SERVFAIL: the server failed.
    case serverFailure = 2
    /// NXDOMAIN: the name does not exist.
    case noSuchName = 3
    /// NOTIMP: the server does not support this kind of query.
    case notImplemented = 4
    /// REFUSED: the server refused the query.
    case refused = 5
  }

  /// The question of a query.
  public struct Question: Hashable, Sendable {
    /// The name in lower case, without a trailing dot.
    public var name: String
    /// The record type that is asked for.
    public var type: RecordType

    /// Creates a question; `name` is in lower case, without a trailing dot.
    public init(name: String, type: RecordType) {
      self.name = name
      self.type = type
    }
  }

  /// The data of a record.
  public enum RecordData: Hashable, Sendable {
    /// An IPv4 address (A) or an IPv6 address (AAAA).
    case address(IPAddress)
    /// The name that an alias points to (CNAME), in lower case, without a trailing dot.
    case alias(String)
    /// A type that the stub does not support, with the bytes as received.
    case other(RecordType, [UInt8])
  }

  /// One resource record of an answer.
  public struct Record: Hashable, Sendable {
    /// The name in lower case, without a trailing dot.
    public var name: String
    /// The time to live, in seconds.
    public var ttl: UInt32
    /// The data, which also determines the record's type.
    public var data: RecordData

    /// Creates a record; `ttl` is in seconds.
    public init(name: String, ttl: UInt32, data: RecordData) {
      self.name = name
      self.ttl = ttl
      self.data = data
    }
  }

  /// The identifier that matches an answer to its query.
  public var identifier: UInt16
  /// Whether the message is a response, not a query.
  public var isResponse: Bool
  /// Whether the answer was truncated and the client must retry over TCP.
  public var isTruncated: Bool
  /// The result of the query; `success` in a query.
  public var responseCode: ResponseCode
  /// The questions; usually one.
  public var questions: [Question]
  /// The answer records; empty in a query.
  public var answers: [Record]

  /// Creates a message. By default, it is a query without questions.
  public init(
    identifier: UInt16, isResponse: Bool = false, isTruncated: Bool = false, responseCode: ResponseCode = .success,
    questions: [Question] = [],
    answers: [Record] = []
  ) {
    self.identifier = identifier
    self.isResponse = isResponse
    self.isTruncated = isTruncated
    self.responseCode = responseCode
    self.questions = questions
    self.answers = answers
  }
}

extension DNSMessage.RecordData {
  /// The record type of this data in wire format.
  public var type: DNSMessage.RecordType {
    switch self {
    case .address(.v4): .a
    case .address(.v6): .aaaa
    case .alias: .cname
    case .other(let type, _): type
    }
  }
}
