/// Encodes gzip (RFC 1952) with stored blocks, which every decoder supports and which need no
/// compression.
enum StoredGzip {
  /// The size of the largest stored block; its length has 16 bits (RFC 1951, section 3.2.4).
  private static let largestBlock = 65_535

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    // Magic, deflate, no flags, no time, no extra flags, unknown system.
    var encoded: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(largestBlock)
      rest = rest.dropFirst(largestBlock)
      let length = UInt16(block.count)
      encoded += [rest.isEmpty ? 1 : 0] + littleEndian(length) + littleEndian(~length) + block
    } while !rest.isEmpty
    return encoded + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }

  private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Returns the CRC-32 defined in RFC 1952, section 8.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
  }
}
