internal import CZlib

/// PNG: chunks, each with a checksum, up to IEND, with a picture among them.
///
/// Decoders refuse a picture with a critical chunk that they do not know, because it cannot be shown
/// without the chunk. CgBI is none of those: a file that begins with it never gets here
/// (``isForApp(_:)``).
///
/// Decoders leave out an ancillary chunk whose checksum is wrong, so it is no defect. Editors leave
/// such chunks behind.
///
/// Source: https://www.w3.org/TR/png-3/, sections 5.2 to 5.6, and 13.
struct PNGWalk: FileWalk {
  private enum Position {
    case signature, header, imageHeader, data, checksum
  }

  private static let criticalChunks: [StaticString] = ["IHDR", "PLTE", "IDAT", "IEND"]

  let firstStep = WalkStep.skip(8)
  let hasOwnEnd = true
  private(set) var pictureSize: (width: Int, height: Int)?
  private var place = Position.signature
  private var checksum: UInt = 0
  /// Whether the picture cannot be shown without the chunk: its name begins with a capital letter.
  private var isCritical = true
  private var hasPicture = false
  private var isLastChunk = false

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .signature: return .success(header)
    case .header: return open(field)
    case .imageHeader:
      unsafe field.bytes.withUnsafeBytes { unsafe pass($0) }
      if let width = field.big32(at: 0), let height = field.big32(at: 4) { pictureSize = (width, height) }
      return .success(trailer)
    case .data: return .success(trailer)
    case .checksum:
      guard !isCritical || field.big32(at: 0) == Int(checksum) else {
        return .failure(WalkDefect("the checksum of a PNG chunk is wrong"))
      }
      guard isLastChunk else { return .success(header) }
      return hasPicture ? .success(.rest) : .failure(WalkDefect("the PNG contains no picture"))
    }
  }

  mutating func pass(_ bytes: UnsafeRawBufferPointer) {
    guard isCritical, let start = bytes.baseAddress, place != .signature else { return }
    checksum = unsafe crc32_z(checksum, start.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  func end(missing: Int?) -> WalkDefect? {
    WalkDefect("the PNG ends before its last chunk")
  }

  private var header: WalkStep {
    mutating get {
      place = .header
      return .field(8)
    }
  }

  private var trailer: WalkStep {
    mutating get {
      place = .checksum
      return .field(4)
    }
  }

  /// Reads the length and the name of a chunk. The checksum begins with the name.
  private mutating func open(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    guard let length = field.big32(at: 0), length <= Int32.max else { return .failure(WalkDefect("a PNG chunk has an impossible length")) }
    guard field.bytes.dropFirst(4).allSatisfy(\.isLetterASCII) else { return .failure(WalkDefect("a PNG chunk has an impossible name")) }
    isCritical = (field.byte(at: 4) ?? 0) & 0x20 == 0
    guard !isCritical || Self.criticalChunks.contains(where: { field.holds($0, at: 4) }) else {
      let name = Refusal.quote(field.bytes.dropFirst(4))
      return .failure(WalkDefect("the PNG has a critical chunk '\(name)', which is not in the standard, so no decoder shows the picture"))
    }
    checksum = unsafe field.bytes.withUnsafeBytes { name in
      unsafe crc32_z(0, name.baseAddress?.advanced(by: 4).assumingMemoryBound(to: UInt8.self), 4)
    }
    hasPicture = hasPicture || field.holds("IDAT", at: 4)
    isLastChunk = field.holds("IEND", at: 4)
    let imageHeaderLength = 13
    if field.holds("IHDR", at: 4), length == imageHeaderLength {
      place = .imageHeader
      return .success(.field(length))
    }
    place = .data
    return .success(.skip(length))
  }
}

/// The header of a PNG, which must be complete and followed by what the format allows.
extension PNGWalk {
  /// A PNG has the signature and a complete IHDR. An animated PNG begins in the same way.
  ///
  /// Source: https://www.w3.org/TR/png-3/
  static func verdict(_ head: FileHead) -> HeadVerdict {
    if isForApp(head) { return .foreign }
    guard head.big32(at: 8) == 13, head.holds("IHDR", at: 12) else { return .broken }
    guard let width = head.big32(at: 16), let height = head.big32(at: 20), width > 0, height > 0 else { return .broken }
    let endOfHeader = 33
    return head.count >= endOfHeader ? .type(.png) : .broken
  }

  /// Xcode optimises the PNGs of an app: their first chunk is CgBI, and their data has neither the
  /// header nor the order of colours of PNG. Only the app's own system reads them.
  static func isForApp(_ head: FileHead) -> Bool {
    head.holds("CgBI", at: 12)
  }
}
