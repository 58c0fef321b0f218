import Attache

extension DNSMessage {
  /// The bytes are not a valid DNS message: the message is truncated, a name has a pointer that
  /// points forwards or loops, or the response code is unknown.
  public struct FormatError: Error, Hashable, Sendable {
    /// The offset where parsing stopped, in bytes from the start.
    public var offset: Int
  }

  /// Parses a message. The sections after the answers (authority and additional records) are not
  /// parsed.
  ///
  /// - Throws: ``FormatError`` for a message that is not well formed.
  public init(_ bytes: [UInt8]) throws(FormatError) {
    var decoder = Decoder(bytes: bytes)
    let identifier = try decoder.number(UInt16.self)
    let flags = try decoder.number(UInt16.self)
    guard let code = ResponseCode(rawValue: UInt8(flags & 0xF)) else { throw FormatError(offset: 3) }
    self.init(identifier: identifier, isResponse: flags & 0x8000 != 0, isTruncated: flags & 0x0200 != 0, responseCode: code)
    let counts = (questions: try decoder.number(UInt16.self), answers: try decoder.number(UInt16.self))
    _ = try decoder.number(UInt32.self)
    for _ in 0..<counts.questions {
      questions.append(Question(name: try decoder.name(), type: RecordType(rawValue: try decoder.number(UInt16.self))))
      _ = try decoder.number(UInt16.self)
    }
    for _ in 0..<counts.answers { answers.append(try decoder.record()) }
  }

  private struct Decoder {
    let bytes: [UInt8]
    var offset = 0

    var failure: FormatError { FormatError(offset: offset) }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(FormatError) -> Number {
      let size = Number.bitWidth / 8
      guard offset + size <= bytes.count else { throw failure }
      defer { offset += size }
      return bytes[offset..<offset + size].reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func take(_ count: Int) throws(FormatError) -> ArraySlice<UInt8> {
      guard offset + count <= bytes.count else { throw failure }
      defer { offset += count }
      return bytes[offset..<offset + count]
    }

    /// Reads a name and follows its pointers. Each pointer must point before the previous one, so
    /// that the loop ends.
    mutating func name() throws(FormatError) -> String {
      var labels: [String] = []
      var end: Int?
      var limit = offset
      while true {
        let length = Int(try number(UInt8.self))
        if length == 0 { break }
        if length & 0xC0 == 0xC0 {
          let target = (length & 0x3F) << 8 | Int(try number(UInt8.self))
          guard target < limit else { throw failure }
          end = end ?? offset
          limit = target
          offset = target
        } else {
          guard length < 64 else { throw failure }
          labels.append(String(decoding: try take(length), as: UTF8.self).lowercased())
        }
      }
      offset = end ?? offset
      return labels.joined(separator: ".")
    }

    mutating func record() throws(FormatError) -> Record {
      let name = try name()
      let type = RecordType(rawValue: try number(UInt16.self))
      _ = try number(UInt16.self)
      let ttl = try number(UInt32.self)
      let length = Int(try number(UInt16.self))
      let end = offset + length
      guard end <= bytes.count else { throw failure }
      let data: RecordData
      switch (type, length) {
      case (.a, 4): data = .address(.v4(try number(UInt32.self)))
      case (.aaaa, 16): data = .address(.v6(try number(UInt128.self)))
      case (.cname, _): data = .alias(try self.name())
      default: data = .other(type, Array(try take(length)))
      }
      guard offset == end else { throw failure }
      return Record(name: name, ttl: ttl, data: data)
    }
  }
}
