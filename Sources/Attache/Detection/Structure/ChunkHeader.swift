/// The headers of AIFF, WAVE and AVI: a form, then chunks, one of which describes the sound or the
/// video.
enum ChunkHeader {
  /// AIFF and AIFF-C, which require COMM. Source: Apple, Audio Interchange File Format AIFF-C,
  /// draft of 26 August 1991.
  static func aiff(_ head: FileHead) -> HeadVerdict {
    guard head.holds("FORM", at: 0), head.holds("AIFF", at: 8) || head.holds("AIFC", at: 8) else { return .foreign }
    return verdict(.aiff, find("COMM", shortest: 18, in: head, lengths: head.big32))
  }

  /// WAVE, which requires `fmt `. RF64 and RIFX are related formats that Apple does not list.
  ///
  /// Source: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0.
  static func wave(_ head: FileHead) -> HeadVerdict {
    guard head.holds("RIFF", at: 0), head.holds("WAVE", at: 8) else { return .foreign }
    return verdict(.wave, find("fmt ", shortest: 14, in: head, lengths: head.little32))
  }

  /// AVI, which requires the list `hdrl`, with `avih` of 56 bytes first. Source: as for WAVE.
  static func avi(_ head: FileHead) -> HeadVerdict {
    guard head.holds("RIFF", at: 0), head.holds("AVI ", at: 8) else { return .foreign }
    let list = find("LIST", shortest: 68, visible: 68, in: head, lengths: head.little32)
    if case .found(let start) = list, !head.holds("hdrlavih", at: start) { return .broken }
    return verdict(.avi, list)
  }

  private enum Search {
    case found(start: Int)
    case beyond(FileHead)
    case missing
  }

  private static func verdict(_ type: MediaType, _ search: Search) -> HeadVerdict {
    switch search {
    case .found: .type(type)
    case .beyond(let head): head.beyond(type)
    case .missing: .broken
    }
  }

  /// The longest chunk that may precede the wanted one, in bytes. Text that is read as a length
  /// gives more than 500 million.
  private static let longestPrelude = 16 << 20

  /// Finds a chunk. `start` is where its data begins. It must have at least `shortest` bytes, of
  /// which `visible` (by default all) must be in the head.
  private static func find(
    _ name: StaticString, shortest: Int, visible: Int? = nil, in head: FileHead, lengths: (Int) -> Int?
  ) -> Search {
    var offset = 12
    while let length = lengths(offset + 4) {
      let start = offset + 8
      if head.holds(name, at: offset) {
        guard length >= shortest else { return .missing }
        return start + (visible ?? length) <= head.count ? .found(start: start) : .beyond(head)
      }
      // The sound of an AIFF may precede its description.
      guard length <= longestPrelude || head.holds("SSND", at: offset) else { return .missing }
      offset = start + length + length & 1
    }
    return .beyond(head)
  }
}
