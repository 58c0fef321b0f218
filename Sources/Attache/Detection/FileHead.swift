/// The first bytes of a file, and whether they are all of it. Reading past them gives nil, never a
/// trap.
struct FileHead {
  let bytes: [UInt8]
  /// Whether the file ends where the bytes end; false when more of it is to come.
  let isWhole: Bool

  var count: Int { bytes.count }

  func byte(at offset: Int) -> Int? {
    bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
  }

  /// The two bytes at an offset as a big-endian number.
  func big16(at offset: Int) -> Int? {
    guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
    return high << 8 | low
  }

  /// The two bytes at an offset as a little-endian number.
  func little16(at offset: Int) -> Int? {
    guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
    return high << 8 | low
  }

  /// The four bytes at an offset as a big-endian number.
  func big32(at offset: Int) -> Int? {
    guard offset >= 0, offset <= count - 4 else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe Int(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))) }
  }

  /// The four bytes at an offset as a big-endian number, as if zeros stood behind the end.
  func padded32(at offset: Int) -> UInt32 {
    if let number = big32(at: offset) { return UInt32(number) }
    return (offset..<offset + 4).reduce(0) { $0 << 8 | UInt32(byte(at: $1) ?? 0) }
  }

  /// The four bytes at an offset as a little-endian number.
  func little32(at offset: Int) -> Int? {
    big32(at: offset).map { Int(UInt32($0).byteSwapped) }
  }

  /// Whether a name of the format, such as `RIFF`, stands at an offset.
  func holds(_ name: StaticString, at offset: Int) -> Bool {
    guard offset >= 0, offset <= count - name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { text in unsafe bytes[offset..<offset + text.count].elementsEqual(text) }
  }

  /// What to say when a header goes on behind the bytes: it may well be right while more is to
  /// come; in a whole file it is cut.
  func beyond(_ type: MediaType) -> HeadVerdict {
    isWhole ? .broken : .type(type)
  }
}

/// What the header bytes say, once libmagic has named the format.
enum HeadVerdict: Equatable {
  /// One of Apple's types.
  case type(MediaType)
  /// A relative of one of Apple's types that Apple does not list, such as MPEG audio layer II.
  case foreign
  /// No header of the format: cut off, or something else that begins alike.
  case broken
}
