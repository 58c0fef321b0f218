/// What is kept of an accepted 200: its file, when that is stale, and what it takes to ask whether
/// it has changed.
struct CacheEntry: Hashable, Sendable {
  var key: IndexKey
  var file: StoredFile
  /// The fields that outlive the exchange.
  var fields: CacheFields
  /// A validator of 256 bytes at most.
  var entityTag: String?
  /// When it becomes stale; wall clock, since 1970.
  var expiry: Duration
  /// The most pixels that a picture might have when this one was accepted.
  var pixels: Int
  /// Whether every address that the host had is open to whoever has no `--allow-net`.
  var isPublic: Bool
  /// When it was last of use; wall clock, in seconds since 1970.
  var lastUse: Int64

  /// The longest entity tag that is kept, in bytes; those of the field have fewer than a hundred.
  static let longestTag = 256

  /// Header lines that ask for the file only if it has changed (RFC 9110, 13.1.2 and 13.1.3); none
  /// without a validator.
  var conditions: [String] {
    if let entityTag { return ["If-None-Match: \(entityTag)"] }
    return fields.lastModified.map { ["If-Modified-Since: \($0.text)"] } ?? []
  }

  /// Whether a run with these limits would have accepted the file.
  func passes(_ limits: MediaLimits) -> Bool {
    file.size <= limits[file.type.kind] && (pixels <= limits.pixels || file.type.kind != .image)
  }

  /// An entity tag as it may be sent back: whole, of printable ASCII, and not too long; nil for one
  /// that is none (RFC 9110, 8.8.3).
  static func validator(_ tag: UntrustedText?) -> String? {
    guard let tag, tag.utf8.count <= longestTag else { return nil }
    let opaque = tag.utf8.starts(with: "W/".utf8) ? tag.utf8.dropFirst(2) : tag.utf8[...]
    let quote = UInt8(ascii: "\"")
    guard opaque.count >= 2, opaque.first == quote, opaque.last == quote,
      opaque.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && $0 != quote })
    else { return nil }
    return tag.string
  }
}

// How it lies in the index.
extension CacheEntry {
  private static let never = Int64.min

  /// The row of the index.
  var row: IndexRow {
    var note = ByteWriter(capacity: 64 + (entityTag?.utf8.count ?? 0))
    note.append(UInt8((isPublic ? 1 : 0) | (fields.control == nil ? 0 : 2) | (fields.control?.noCache == true ? 4 : 0)))
    note.append(expiry.wholeMilliseconds)
    note.append(Int64(pixels))
    for number in [
      fields.control?.maximumAge, fields.control?.sharedMaximumAge, fields.expires?.seconds, fields.lastModified?.seconds,
    ] {
      note.append(number ?? Self.never)
    }
    if let entityTag { note.append(entityTag.utf8) }
    return IndexRow(key: key, name: file.name, size: Int64(file.size), lastUse: lastUse, note: note.bytes)
  }

  /// Reads a row; nil for one without a note of this form.
  init?(_ row: IndexRow) {
    var note = ByteReader(row.note)
    guard let flags = note.read(UInt8.self), let expiry = note.read(Int64.self), let pixels = note.read(Int64.self) else { return nil }
    var numbers: [Int64?] = []
    for _ in 0..<4 {
      guard let number = note.read(Int64.self) else { return nil }
      numbers.append(number == Self.never ? nil : number)
    }
    // The last two are dates.
    guard numbers[2...].allSatisfy({ $0.map(HTTPDate.range.contains) != false }) else { return nil }
    var fields = CacheFields()
    if flags & 2 != 0 { fields.control = CacheControl(noCache: flags & 4 != 0, maximumAge: numbers[0], sharedMaximumAge: numbers[1]) }
    fields.expires = numbers[2].map { HTTPDate(seconds: $0) }
    fields.lastModified = numbers[3].map { HTTPDate(seconds: $0) }
    self.init(
      key: row.key, file: StoredFile(row.name, size: Int(row.size)), fields: fields,
      entityTag: Self.validator(note.rest.isEmpty ? nil : UntrustedText(decoding: note.rest)), expiry: .milliseconds(expiry),
      pixels: Int(pixels), isPublic: flags & 1 != 0, lastUse: row.lastUse)
  }
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
