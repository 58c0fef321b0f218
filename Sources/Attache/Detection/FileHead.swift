/// The first bytes of a file, and whether they are the whole file. Reading past them returns nil
/// and never traps.
struct FileHead {
  let bytes: [UInt8]
  /// Whether the file ends where the bytes end; false when more bytes follow.
  let isWhole: Bool

  var count: Int { bytes.count }

  func byte(at offset: Int) -> Int? {
    bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
  }

  /// Returns the two bytes at an offset as a big-endian number.
  func big16(at offset: Int) -> Int? {
    guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
    return high << 8 | low
  }

  /// Returns the two bytes at an offset as a little-endian number.
  func little16(at offset: Int) -> Int? {
    guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
    return high << 8 | low
  }

  /// Returns the four bytes at an offset as a big-endian number.
  func big32(at offset: Int) -> Int? {
    guard offset >= 0, offset <= count - 4 else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe Int(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))) }
  }

  /// Returns the four bytes at an offset as a big-endian number, with zeros for bytes past the end.
  func padded32(at offset: Int) -> UInt32 {
    if let number = big32(at: offset) { return UInt32(number) }
    return (offset..<offset + 4).reduce(0) { $0 << 8 | UInt32(byte(at: $1) ?? 0) }
  }

  /// Returns the four bytes at an offset as a little-endian number.
  func little32(at offset: Int) -> Int? {
    big32(at: offset).map { Int(UInt32($0).byteSwapped) }
  }

  /// Returns whether the bytes at an offset are a name of the format, such as `RIFF`.
  func holds(_ name: StaticString, at offset: Int) -> Bool {
    guard offset >= 0, offset <= count - name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { text in unsafe bytes[offset..<offset + text.count].elementsEqual(text) }
  }

  /// Returns the verdict on a header that continues past the bytes. It may be valid while more
  /// bytes follow; in a whole file it is cut off.
  func beyond(_ type: MediaType) -> HeadVerdict {
    isWhole ? .broken : .type(type)
  }
}

/// The verdict on the header bytes, after libmagic has named the format.
enum HeadVerdict: Equatable {
  /// One of Apple's types.
  case type(MediaType)
  /// A type that is related to one of Apple's types but that Apple does not list, such as MPEG
  /// audio layer II.
  case foreign
  /// Not a header of the format: it is cut off, or another format begins with the same bytes.
  case broken
}
