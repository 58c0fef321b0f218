/// JPEG: segments, then scans, which end at a marker outside all segments.
///
/// Pictures within application segments and pictures after the end are ignored.
///
/// Source: ITU-T T.81, annex B.
struct JPEGWalk: FileWalk {
  private enum Position {
    case start, marker, code, length, frame(rest: Int), lines(rest: Int), segment, scanHeader, scan
  }

  let firstStep = WalkStep.skip(2)
  let hasOwnEnd = true
  private(set) var pictureSize: (width: Int, height: Int)?
  private var place = Position.start
  private var code = 0
  private var hasScan = false

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .start, .segment: return .success(afterSegment)
    case .marker:
      guard field.byte(at: 0) == 0xFF else { return .failure(WalkDefect("a JPEG marker is missing")) }
      return .success(want(.code, .field(1)))
    case .code: return read(code: field.byte(at: 0) ?? 0)
    case .length: return open(field)
    case .frame(let rest):
      if let height = field.big16(at: 1), let width = field.big16(at: 3) { pictureSize = (width, height) }
      return .success(want(.segment, .skip(rest)))
    case .lines(let rest):
      if let height = field.big16(at: 0), let size = pictureSize, size.height == 0 { pictureSize = (size.width, height) }
      return .success(want(.segment, .skip(rest)))
    case .scanHeader:
      hasScan = true
      return .success(afterSegment)
    case .scan: return .success(want(.code, .field(1)))
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    WalkDefect("the JPEG ends before its end marker")
  }

  private mutating func want(_ place: Position, _ step: WalkStep) -> WalkStep {
    self.place = place
    return step
  }

  /// The step after a segment. After the first scan, it searches for the next marker; before that,
  /// the marker must follow at once.
  private var afterSegment: WalkStep {
    mutating get { hasScan ? want(.scan, .search(0xFF)) : want(.marker, .field(1)) }
  }

  private mutating func read(code: Int) -> Result<WalkStep, WalkDefect> {
    self.code = code
    switch code {
    // Any number of fill bytes may precede a code.
    case 0xFF: return .success(want(.code, .field(1)))
    case 0xD9:
      guard hasScan, let size = pictureSize, size.width > 0, size.height > 0 else {
        return .failure(WalkDefect("the JPEG contains no picture"))
      }
      return .success(.rest)
    // An FF in the data, restarts, and other codes without a length.
    case 0x00...0xBF, 0xD0...0xD8: return .success(afterSegment)
    default: return .success(want(.length, .field(2)))
    }
  }

  /// Reads a segment's length, which includes itself. Frame headers are SOF0 to SOF15, without DHT,
  /// JPG and DAC. DNL gives the number of lines when a frame header omits it.
  private mutating func open(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    guard let length = field.big16(at: 0), length >= 2 else { return .failure(WalkDefect("a JPEG segment has an impossible length")) }
    let rest = length - 2
    let (frameLength, linesLength) = (6, 2)
    switch code {
    case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
      guard rest >= frameLength else { return .failure(WalkDefect("the JPEG frame header is truncated")) }
      return .success(want(.frame(rest: rest - frameLength), .field(frameLength)))
    case 0xDA: return .success(want(.scanHeader, .skip(rest)))
    case 0xDC where rest >= linesLength: return .success(want(.lines(rest: rest - linesLength), .field(linesLength)))
    default: return .success(want(.segment, .skip(rest)))
    }
  }
}
