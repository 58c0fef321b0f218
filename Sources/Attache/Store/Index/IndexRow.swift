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
    var bytes: [UInt8] = []
    bytes.reserveCapacity(100 + note.count)
    bytes.put(UInt64(0))
    bytes.append(Self.version)
    bytes.put(key.digest)
    bytes.put(name.digest)
    bytes.append(name.type.indexCode)
    bytes.put(size)
    bytes.put(lastUse)
    bytes += note
    bytes.put(Self.check(bytes[...]), at: 0)
    return bytes
  }

  /// Decodes a row. Returns nil for invalid bytes.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let check = reader.read(UInt64.self), check == Self.check(bytes[...]), reader.read(UInt8.self) == Self.version,
      let key = reader.read(HashWords.self), let digest = reader.read(HashWords.self),
      let code = reader.read(UInt8.self), let type = MediaType(indexCode: code), let size = reader.read(Int64.self), size >= 0,
      let lastUse = reader.read(Int64.self)
    else { return nil }
    self.init(
      key: IndexKey(digest: key), name: StoreName(words: digest, type: type), size: size, lastUse: lastUse,
      note: Array(reader.rest))
  }

  /// Returns the first eight bytes of the SHA-256 of everything after the checksum.
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var hash = SHA256()
    unsafe bytes.dropFirst(checkLength).withUnsafeBytes { unsafe hash.update($0) }
    return hash.finish().words[0]
  }
}

extension MediaType {
  /// The code of the type in a row. Codes are on disk, so they never change; a new type gets a new
  /// one.
  var indexCode: UInt8 {
    switch self {
    case .jpeg: 0
    case .gif: 1
    case .png: 2
    case .aiff: 3
    case .wave: 4
    case .mp3: 5
    case .mpeg4Audio: 6
    case .mpeg: 7
    case .mpeg2: 8
    case .mpeg4: 9
    case .avi: 10
    }
  }

  /// The type with that code; nil if there is none.
  init?(indexCode code: UInt8) {
    guard let type = Self.allCases.first(where: { $0.indexCode == code }) else { return nil }
    self = type
  }
}

extension StoreName {
  /// Creates the name of a file from the words of its hash.
  init(words: HashWords, type: MediaType) {
    (digest, self.type) = (words, type)
  }
}
