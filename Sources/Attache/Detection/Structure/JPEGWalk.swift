/// JPEG: segments, then scans, which end at a marker outside all segments.
///
/// Bytes between segments are skipped up to the next marker, as libjpeg does: cameras write segments
/// that are longer than their length says. In return, only what libjpeg reads may precede the first
/// scan, and the segments that it needs must have the length of their content. Pictures within
/// application segments and pictures after the end are ignored.
///
/// Source: ITU-T T.81, annex B; libjpeg's `next_marker` and `read_markers`.
struct JPEGWalk: FileWalk {
  private enum Position {
    case start, marker, code, length, frame(rest: Int), lines(rest: Int), tables, segment, scanHeader
  }

  let firstStep = WalkStep.skip(2)
  let hasOwnEnd = true
  private(set) var pictureSize: (width: Int, height: Int)?
  private var place = Position.start
  private var code = 0
  private var hasScan = false

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .start, .segment: return .success(toMarker)
    case .marker: return .success(want(.code, .field(1)))
    case .code: return read(code: field.byte(at: 0) ?? 0)
    case .length: return open(field)
    case .frame(let rest):
      guard let components = field.byte(at: 5), components > 0, rest == 3 * components else { return .failure(Self.badLength) }
      if let height = field.big16(at: 1), let width = field.big16(at: 3) { pictureSize = (width, height) }
      return .success(want(.segment, .skip(rest)))
    case .lines(let rest):
      if let height = field.big16(at: 0), let size = pictureSize, size.height == 0 { pictureSize = (size.width, height) }
      return .success(want(.segment, .skip(rest)))
    case .tables: return JPEGMarker.holdsWholeTables(field, code) ? .success(toMarker) : .failure(Self.badLength)
    case .scanHeader:
      let components = field.byte(at: 0) ?? 0
      guard 1...4 ~= components, field.count == 4 + 2 * components else { return .failure(Self.badLength) }
      hasScan = true
      return .success(toMarker)
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    WalkDefect("the JPEG ends before its end marker")
  }

  private static let badLength = WalkDefect("a JPEG segment has an impossible length")

  private mutating func want(_ place: Position, _ step: WalkStep) -> WalkStep {
    self.place = place
    return step
  }

  private var toMarker: WalkStep {
    mutating get { want(.marker, .search(0xFF)) }
  }

  private mutating func read(code: Int) -> Result<WalkStep, WalkDefect> {
    self.code = code
    guard hasScan || code == 0xFF || code == 0xD9 || JPEGMarker.mayPrecedeScan(code) else {
      let name = String(0x100 | code, radix: 16, uppercase: true).dropFirst()
      return .failure(WalkDefect("before its data, the JPEG has a marker (FF \(name)) that decoders refuse"))
    }
    switch code {
    // Any number of fill bytes may precede a code.
    case 0xFF: return .success(want(.code, .field(1)))
    case 0xD9:
      guard hasScan, let size = pictureSize, size.width > 0, size.height > 0 else {
        return .failure(WalkDefect("the JPEG contains no picture"))
      }
      return .success(.rest)
    // An FF in the data, restarts, and other codes without a length.
    case 0x00...0xBF, 0xD0...0xD8: return .success(toMarker)
    default: return .success(want(.length, .field(2)))
    }
  }

  /// Reads a segment's length, which includes itself. DNL gives the number of lines when a frame
  /// header omits it.
  private mutating func open(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    guard let length = field.big16(at: 0), length >= 2 || JPEGMarker.isSkipped(code) else {
      return .failure(Self.badLength)
    }
    let rest = max(0, length - 2)
    let (frameLength, linesLength) = (6, 2)
    switch code {
    case 0xDA:
      guard pictureSize != nil else { return .failure(WalkDefect("the JPEG has no frame header before its data")) }
      return .success(want(.scanHeader, .field(rest)))
    case 0xC4, 0xDB, 0xDD: return .success(want(.tables, .field(rest)))
    case 0xDC where rest >= linesLength: return .success(want(.lines(rest: rest - linesLength), .field(linesLength)))
    case _ where JPEGMarker.isFrameHeader(code):
      guard rest >= frameLength else { return .failure(WalkDefect("the JPEG frame header is truncated")) }
      guard hasScan || pictureSize == nil else { return .failure(WalkDefect("the JPEG has two frame headers")) }
      return .success(want(.frame(rest: rest - frameLength), .field(frameLength)))
    default: return .success(want(.segment, .skip(rest)))
    }
  }
}

/// The header of a JPEG, which must be complete and followed by what the format allows.
extension JPEGWalk {
  /// A JPEG has a frame header (SOF) before its first scan. A picture that is cut off after that is
  /// still a JPEG by its bytes.
  ///
  /// Source: ITU-T T.81, annex B. JPEG-LS (T.87, frame header F7) begins with the same three bytes.
  static func verdict(_ head: FileHead) -> HeadVerdict {
    guard head.byte(at: 0) == 0xFF, head.byte(at: 1) == 0xD8 else { return .broken }
    var offset = 2
    while let fill = head.byte(at: offset), let code = head.byte(at: offset + 1) {
      // Bytes that are no marker are skipped, as in the walk.
      guard fill == 0xFF, code != 0xFF, code != 0 else {
        offset += 1
        continue
      }
      if code == 0xF7 { return .foreign }
      guard JPEGMarker.mayPrecedeScan(code), code != 0xDA else { return .broken }
      if JPEGMarker.isAlone(code) {
        offset += 2
        continue
      }
      guard let length = head.big16(at: offset + 2) else { return head.beyond(.jpeg) }
      guard length >= 2 || JPEGMarker.isSkipped(code) else { return .broken }
      offset += 2 + max(2, length)
      if JPEGMarker.isFrameHeader(code) { return offset <= head.count ? .type(.jpeg) : head.beyond(.jpeg) }
    }
    return head.beyond(.jpeg)
  }
}

/// The codes of JPEG's markers, which follow a byte FF.
///
/// Source: ITU-T T.81, table B.1.
enum JPEGMarker {
  /// SOF0 to SOF15, without the three codes in between that mean DHT, JPG and DAC.
  static func isFrameHeader(_ code: Int) -> Bool {
    (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC
  }

  /// APP0 to APP15 and COM, which decoders skip. libjpeg takes a length below 2 as an empty segment.
  static func isSkipped(_ code: Int) -> Bool {
    (0xE0...0xEF).contains(code) || code == 0xFE
  }

  /// Codes without a length: TEM and restarts. An FF00 outside of data is two bytes of anything.
  static func isAlone(_ code: Int) -> Bool {
    code <= 0x01 || (0xD0...0xD7).contains(code)
  }

  /// Whether a segment of quantisation tables (DQT), Huffman tables (DHT) or a restart interval (DRI)
  /// holds whole tables and nothing else.
  static func holdsWholeTables(_ content: FileHead, _ code: Int) -> Bool {
    guard code != 0xDD else { return content.count == 2 }
    var offset = 0
    while let table = content.byte(at: offset) {
      if code == 0xDB {
        guard table & 0x0F < 4 else { return false }
        offset += table >> 4 == 0 ? 65 : 129
      } else {
        guard table & 0xEF < 4, offset + 17 <= content.count else { return false }
        offset += 17 + content.bytes[(offset + 1)..<(offset + 17)].reduce(0) { $0 + Int($1) }
      }
    }
    return offset == content.count
  }

  /// Whether libjpeg goes on after this code before the first scan. It refuses others, such as a
  /// second start of a picture.
  static func mayPrecedeScan(_ code: Int) -> Bool {
    switch code {
    case 0xC4, 0xCC, 0xDA...0xDD: true
    default: isFrameHeader(code) || isSkipped(code) || isAlone(code)
    }
  }
}
