public import Attache

/// One DNS message (RFC 1035, 4), as far as a stub server and its tests need it.
public struct DNSMessage: Hashable, Sendable {
  /// A record's type. The ones that the stub knows are named.
  public struct RecordType: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt16

    public init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// An IPv4 address.
    public static let a = RecordType(rawValue: 1)
    /// Another name for the same host.
    public static let cname = RecordType(rawValue: 5)
    /// An IPv6 address.
    public static let aaaa = RecordType(rawValue: 28)
  }

  /// How an answer went; the raw value is the number on the wire.
  public enum ResponseCode: UInt8, Sendable {
    case success = 0
    case formatError = 1
    case serverFailure = 2
    case noSuchName = 3
    case notImplemented = 4
    case refused = 5
  }

  /// What is asked.
  public struct Question: Hashable, Sendable {
    /// The name in lower case, without a trailing dot.
    public var name: String
    public var type: RecordType

    public init(name: String, type: RecordType) {
      self.name = name
      self.type = type
    }
  }

  /// What a record says.
  public enum RecordData: Hashable, Sendable {
    case address(IPAddress)
    case alias(String)
    /// A type that the stub does not know, with the bytes as they came.
    case other(RecordType, [UInt8])
  }

  /// One line of an answer.
  public struct Record: Hashable, Sendable {
    /// The name in lower case, without a trailing dot.
    public var name: String
    /// How long it may be kept, in seconds.
    public var ttl: UInt32
    public var data: RecordData

    public init(name: String, ttl: UInt32, data: RecordData) {
      self.name = name
      self.ttl = ttl
      self.data = data
    }
  }

  /// What ties an answer to its query.
  public var identifier: UInt16
  public var isResponse: Bool
  /// Whether the answer did not fit and is to be asked for again over TCP.
  public var isTruncated: Bool
  public var responseCode: ResponseCode
  public var questions: [Question]
  public var answers: [Record]

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
  /// The type under which this stands on the wire.
  public var type: DNSMessage.RecordType {
    switch self {
    case .address(.v4): .a
    case .address(.v6): .aaaa
    case .alias: .cname
    case .other(let type, _): type
    }
  }
}
