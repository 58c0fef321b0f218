/// A chunked body as the grammar has it (RFC 9112, 7.1), read by a second reader, which knows the
/// whole of it at once.
enum PlainChunks {
  /// The body, and how many bytes it took; nil where the grammar does not hold.
  static func read(_ bytes: [UInt8]) -> (body: [UInt8], length: Int)? {
    var rest = bytes[...]
    var body: [UInt8] = []
    while let line = takeLine(&rest) {
      guard line.last == 0x0D else { return nil }
      let digits = String(decoding: line.prefix { Unicode.Scalar($0).properties.isASCIIHexDigit }, as: UTF8.self)
      guard let size = Int(digits, radix: 16), size >= 0 else { return nil }
      if size == 0 { return takeTrailers(&rest) ? (body, bytes.count - rest.count) : nil }
      guard rest.count - 2 >= size, rest.dropFirst(size).starts(with: [0x0D, 0x0A]) else { return nil }
      body += rest.prefix(size)
      rest = rest.dropFirst(size + 2)
    }
    return nil
  }

  private static func takeTrailers(_ rest: inout ArraySlice<UInt8>) -> Bool {
    while let line = takeLine(&rest) {
      if line.isEmpty || line.elementsEqual([0x0D]) { return true }
    }
    return false
  }

  /// The next line without its LF.
  private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: 0x0A) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }
}
