internal import NIOCore

/// Encodes gzip (RFC 1952) with stored blocks, which every decoder supports and which need no
/// compression.
enum StoredGzip {
  /// The size of the largest stored block; its length has 16 bits (RFC 1951, section 3.2.4).
  private static let largestBlock = 65_535

  static func encode(_ bytes: ByteBuffer) -> ByteBuffer {
    // Magic, deflate, no flags, no time, no extra flags, unknown system.
    var encoded = ByteBuffer(bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    var rest = bytes
    repeat {
      var block = rest.readSlice(length: min(rest.readableBytes, largestBlock)) ?? ByteBuffer()
      let length = UInt16(block.readableBytes)
      encoded.writeInteger(rest.readableBytes == 0 ? 1 : 0, as: UInt8.self)
      encoded.writeInteger(length, endianness: .little)
      encoded.writeInteger(~length, endianness: .little)
      encoded.writeBuffer(&block)
    } while rest.readableBytes > 0
    encoded.writeInteger(checksum(bytes), endianness: .little)
    encoded.writeInteger(UInt32(truncatingIfNeeded: bytes.readableBytes), endianness: .little)
    return encoded
  }

  /// Returns the CRC-32 defined in RFC 1952, section 8.
  private static func checksum(_ bytes: ByteBuffer) -> UInt32 {
    ~bytes.readableBytesView.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
  }
}
