/// A row of the index: a URL, the file that it gave, and what the fetcher wants to remember of
/// that.
///
/// It is one run of bytes with a check at its front, so that a row that was torn, or written by
/// another, names no file.
struct IndexRow: Hashable, Sendable {
  var key: IndexKey
  var name: StoreName
  /// The file's, in bytes.
  var size: Int64
  /// When the row was last of use, in seconds since 1970.
  var lastUse: Int64
  /// The fetcher's own.
  var note: [UInt8]

  /// Counted up whenever the bytes mean something else: rows of other versions are none.
  private static let version: UInt8 = 1
  private static let checkLength = 8

  init(key: IndexKey, name: StoreName, size: Int64, lastUse: Int64, note: [UInt8]) {
    (self.key, self.name, self.size, self.lastUse, self.note) = (key, name, size, lastUse, note)
  }

  /// The row as it is written.
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

  /// Reads a row; nil for what is none.
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

  /// The first bytes of the SHA-256 of all that follows the check.
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var hash = SHA256()
    unsafe bytes.dropFirst(checkLength).withUnsafeBytes { unsafe hash.update($0) }
    return hash.finish().words[0]
  }
}

extension StoreName {
  /// The name of a file whose hash is these words.
  init(words: SIMD4<UInt64>, type: MediaType) {
    (digest, self.type) = (words, type)
  }
}
