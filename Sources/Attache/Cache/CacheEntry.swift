/// The cached result of an accepted 200: its file, when it becomes stale, and what is needed to
/// revalidate it.
struct CacheEntry: Hashable, Sendable {
  var key: IndexKey
  var file: StoredFile
  /// The response fields that are stored.
  var fields: CacheFields
  /// A validator, at most 256 bytes long.
  var entityTag: String?
  /// When the entry becomes stale; wall clock, since 1970.
  var expiry: Duration
  /// The maximum number of pixels of a picture when this entry was accepted.
  var pixels: Int
  /// Whether every address of the host may be reached without `--allow-net`.
  var isPublic: Bool
  /// When the entry was last used; wall clock, in seconds since 1970.
  var lastUse: Int64

  /// The longest entity tag that is stored, in bytes. Common entity tags have fewer than a hundred.
  static let longestTag = 256

  /// The header lines of a conditional request (RFC 9110, 13.1.2 and 13.1.3). Empty without a
  /// validator.
  var conditions: [String] {
    if let entityTag { return ["If-None-Match: \(entityTag)"] }
    return fields.lastModified.map { ["If-Modified-Since: \($0.text)"] } ?? []
  }

  /// Returns whether a run with these limits would accept the file.
  func passes(_ limits: MediaLimits) -> Bool {
    file.size <= limits[file.type.kind] && (pixels <= limits.pixels || file.type.kind != .image)
  }

  /// Returns an entity tag that may be sent back: complete, in printable ASCII, and not too long.
  /// Returns nil for an invalid one (RFC 9110, 8.8.3).
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

// Encoding as a row of the index.
extension CacheEntry {
  private static let never = Int64.min

  /// The row of the index.
  var row: IndexRow {
    var note: [UInt8] = []
    let conversion = file.conversion
    note.append(
      UInt8(
        (isPublic ? 1 : 0) | (fields.control == nil ? 0 : 2) | (fields.control?.noCache == true ? 4 : 0) | (conversion == nil ? 0 : 8)))
    note.put(expiry.wholeMilliseconds)
    note.put(Int64(pixels))
    for number in [
      fields.control?.maximumAge, fields.control?.sharedMaximumAge, fields.expires?.seconds, fields.lastModified?.seconds,
    ] {
      note.put(number ?? Self.never)
    }
    if let conversion { note.put(conversion: conversion) }
    if let entityTag { note += entityTag.utf8 }
    return IndexRow(key: key, name: file.name, size: Int64(file.size), lastUse: lastUse, note: note)
  }

  /// Decodes a row. Returns nil if its note does not have this format.
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
    var file = StoredFile(row.name, size: Int(row.size))
    if flags & 8 != 0 {
      guard let conversion = note.readConversion(size: file.size) else { return nil }
      file.conversion = conversion
    }
    var fields = CacheFields()
    if flags & 2 != 0 { fields.control = CacheControl(noCache: flags & 4 != 0, maximumAge: numbers[0], sharedMaximumAge: numbers[1]) }
    fields.expires = numbers[2].map { HTTPDate(seconds: $0) }
    fields.lastModified = numbers[3].map { HTTPDate(seconds: $0) }
    self.init(
      key: row.key, file: file, fields: fields,
      entityTag: Self.validator(note.rest.isEmpty ? nil : UntrustedText(decoding: note.rest)), expiry: .milliseconds(expiry),
      pixels: Int(pixels), isPublic: flags & 1 != 0, lastUse: row.lastUse)
  }
}

// Encoding of a conversion's result as a row of the index.
extension StoredFile {
  /// Returns the row of the index; nil for a file that is not the result of a conversion.
  func row(for key: IndexKey, lastUse: Int64) -> IndexRow? {
    guard let conversion else { return nil }
    var note: [UInt8] = []
    note.put(conversion: conversion)
    return IndexRow(key: key, name: name, size: Int64(size), lastUse: lastUse, note: note)
  }

  /// Decodes a row. Returns nil if its note does not have this format.
  init?(converted row: IndexRow) {
    var note = ByteReader(row.note)
    self.init(row.name, size: Int(row.size))
    guard let conversion = note.readConversion(size: size), note.rest.isEmpty else { return nil }
    self.conversion = conversion
  }
}

extension [UInt8] {
  fileprivate mutating func put(conversion: PictureConversion) {
    append(conversion.code)
    put(Int64(conversion.width))
    put(Int64(conversion.height))
  }
}

extension ByteReader {
  fileprivate mutating func readConversion(size: Int) -> PictureConversion? {
    guard let code = read(UInt8.self), let width = read(Int64.self), let height = read(Int64.self), width >= 0, width <= Int32.max,
      height >= 0, height <= Int32.max
    else { return nil }
    return PictureConversion(code: code, size: size, width: Int(width), height: Int(height))
  }
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
