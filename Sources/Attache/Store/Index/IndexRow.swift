/// A row of the index: a URL's key, the file that the URL gave, and a note of the fetcher.
///
/// It is a byte string with a checksum at its start, so that a torn or foreign row is rejected.
struct IndexRow: Hashable, Sendable {
  var key: IndexKey
  var name: StoreName
  /// The size of the file, in bytes.
  var size: Int64
  /// When the row was last used, in seconds since 1970.
  var lastUse: Int64
  /// The fetcher's own data.
  var note: [UInt8]

  /// Incremented when the format changes. Rows of other versions are rejected.
  private static let version: UInt8 = 1
  private static let checkLength = 8

  init(key: IndexKey, name: StoreName, size: Int64, lastUse: Int64, note: [UInt8]) {
    (self.key, self.name, self.size, self.lastUse, self.note) = (key, name, size, lastUse, note)
  }

  /// The encoded row.
  var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 100 + note.count)
    writer.append(UInt64(0))
    writer.append(Self.version)
    writer.append(key.digest)
    writer.append(name.digest)
    writer.append(UInt8(truncatingIfNeeded: Self.types.firstIndex(of: name.type) ?? 0))
    writer.append(size)
    writer.append(lastUse)
    writer.append(note)
    writer.replaceStart(with: Self.check(writer.bytes[...]))
    return writer.bytes
  }

  /// Decodes a row. Returns nil for invalid bytes.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let check = reader.read(UInt64.self), check == Self.check(bytes[...]), reader.read(UInt8.self) == Self.version,
      let key = reader.read(SIMD4<UInt64>.self), let digest = reader.read(SIMD4<UInt64>.self),
      let type = reader.read(UInt8.self), Int(type) < Self.types.count, let size = reader.read(Int64.self), size >= 0,
      let lastUse = reader.read(Int64.self)
    else { return nil }
    self.init(
      key: IndexKey(digest: key), name: StoreName(words: digest, type: Self.types[Int(type)]), size: size, lastUse: lastUse,
      note: Array(reader.rest))
  }

  private static let types = MediaType.allCases

  /// Returns the first eight bytes of the SHA-256 of everything after the checksum.
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var hash = SHA256()
    unsafe bytes.dropFirst(checkLength).withUnsafeBytes { unsafe hash.update($0) }
    return hash.finish().words[0]
  }
}

extension StoreName {
  /// Creates the name of a file from the words of its hash.
  init(words: SIMD4<UInt64>, type: MediaType) {
    (digest, self.type) = (words, type)
  }
}
