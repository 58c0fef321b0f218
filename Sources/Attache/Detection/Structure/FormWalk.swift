/// WAVE, AVI and AIFF: a form with its length. A long AVI has further forms behind it.
///
/// Writers that cannot seek back leave the length at 0 or near the maximum (ffmpeg FFFFFFFF, sox
/// 7FFFF024, arecord 80000024). Such a length is ignored. Some writers include their own header, so
/// a file counts as cut off only when more than a header is missing.
///
/// Source: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0; OpenDML
/// AVI 1.02; Apple, AIFF-C.
struct FormWalk: FileWalk {
  private enum Position {
    case header, content
  }

  let firstStep = WalkStep.field(12)
  private var place = Position.header
  private var isFirst = true

  /// From this value on, a length is not valid: the writer did not know it.
  private static let unknownLength = 0x7FFF_0000
  /// The size of the canonical header of a WAVE file, in bytes.
  private static let tolerance = 44

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    guard case .header = place else {
      place = .header
      return .success(.field(12))
    }
    guard isFirst || field.holds("RIFF", at: 0) && field.holds("AVIX", at: 8) else { return .success(.rest) }
    isFirst = false
    let length = field.holds("FORM", at: 0) ? field.big32(at: 4) : field.little32(at: 4)
    guard let length, length >= 4, length < Self.unknownLength else { return .success(.rest) }
    place = .content
    return .success(.skip(length - 4))
  }

  func end(missing: Int?) -> WalkDefect? {
    guard case .content = place, let missing, missing > Self.tolerance else { return nil }
    return WalkDefect("\(missing) bytes are missing at its end")
  }
}
