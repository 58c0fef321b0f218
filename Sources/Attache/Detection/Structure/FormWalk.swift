/// WAVE, AVI and AIFF: a form with its length, and chunks in it. A long AVI has further forms behind
/// it.
///
/// The file may lack no byte that the form counts, or that a chunk with samples or frames counts.
/// Writers that cannot seek back leave such a length at 0 or near the maximum (ffmpeg FFFFFFFF, sox
/// 7FFFF024, arecord 80000024). Players (ffmpeg, sox) read such a file as far as it goes. So the
/// length is ignored, and the file does not show its end.
///
/// Source: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0; OpenDML
/// AVI 1.02; Apple, AIFF-C.
struct FormWalk: FileWalk {
  private enum Position {
    case header, chunk, chunkContent, rest
  }

  let firstStep = WalkStep.field(Self.headerLength)
  private(set) var hasOwnEnd = true
  private var place = Position.header
  private var isFirst = true
  private var isBigEndian = false
  private var isAVI = false
  /// The position behind the current step, in bytes, and the length of its field.
  private var offset = Self.headerLength
  private var fieldLength = Self.headerLength
  /// Where the form ends; nil when its writer did not know.
  private var formEnd: Int?
  /// The end of everything that was counted.
  private var countedEnd = 0

  private static let (headerLength, chunkHeaderLength) = (12, 8)
  /// From this value on, a length is not valid: the writer did not know it.
  private static let unknownLength = 0x7FFF_0000

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .header: .success(open(field))
    case .chunk: .success(openChunk(field))
    case .chunkContent: .success(toNextChunk())
    case .rest: .success(formEnd == nil ? .rest : want(.header, field: Self.headerLength))
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    let lacks = countedEnd - (offset - (missing ?? fieldLength))
    return lacks > 0 ? WalkDefect("\(lacks) bytes are missing at its end") : nil
  }

  private mutating func open(_ field: FileHead) -> WalkStep {
    guard isFirst || field.holds("RIFF", at: 0) && field.holds("AVIX", at: 8) else { return .rest }
    (isBigEndian, isAVI) = (field.holds("FORM", at: 0), field.holds("AVI ", at: 8))
    let length = length(in: field)
    formEnd = length >= 4 && length < Self.unknownLength ? offset + length - 4 : nil
    countedEnd = formEnd ?? countedEnd
    if formEnd == nil { hasOwnEnd = false }
    defer { isFirst = false }
    return isFirst ? toNextChunk() : toFormEnd()
  }

  private mutating func openChunk(_ field: FileHead) -> WalkStep {
    let isMedia = field.holds("data", at: 0) || field.holds("SSND", at: 0) || isAVI && field.holds("LIST", at: 0)
    let length = length(in: field)
    let isKnown = length < Self.unknownLength && (length > 0 || !isMedia)
    if isMedia {
      if !isKnown { hasOwnEnd = false }
      countedEnd = max(countedEnd, isKnown ? offset + length : 0)
    }
    // Outside its form, only a chunk with media is certainly one: others may follow a missing pad byte.
    let isWithin = formEnd.map { offset + length <= $0 } ?? field.bytes.prefix(4).allSatisfy { 0x20..<0x7F ~= $0 }
    guard isKnown, isWithin, isAVI || !isMedia else { return toFormEnd() }
    return want(.chunkContent, skip: length + length % 2)
  }

  /// The length in a header, behind its name.
  private func length(in field: FileHead) -> Int {
    (isBigEndian ? field.big32(at: 4) : field.little32(at: 4)) ?? 0
  }

  private mutating func toNextChunk() -> WalkStep {
    if let formEnd, offset + Self.chunkHeaderLength > formEnd { return toFormEnd() }
    return want(.chunk, field: Self.chunkHeaderLength)
  }

  private mutating func toFormEnd() -> WalkStep {
    want(.rest, skip: max(0, countedEnd - offset))
  }

  private mutating func want(_ place: Position, field count: Int) -> WalkStep {
    (self.place, fieldLength) = (place, count)
    offset += count
    return .field(count)
  }

  private mutating func want(_ place: Position, skip count: Int) -> WalkStep {
    (self.place, fieldLength) = (place, 0)
    offset += count
    return .skip(count)
  }
}
