/// ISO base media: boxes up to the end of the file, including the index (`moov`) and media data
/// (`mdat`).
///
/// A file of fragments (`moof`) may end after any of them, unless their index (`mfra`) shows that it
/// was the last one. One whose last box has no length may end anywhere.
///
/// Source: ISO/IEC 14496-12, 4.2, 8.8 and table 1.
struct ISOWalk: FileWalk {
  private enum Position {
    case header, longSize, content
  }

  let firstStep = WalkStep.field(8)
  private(set) var hasOwnEnd = true
  private var place = Position.header
  private var isIndex = false
  private var isFragmentIndex = false
  private var hasIndex = false
  private var hasMedia = false

  /// The boxes at the top level of a file. After the index and the media data, any other name is
  /// not a box, and its length is meaningless.
  private static let names: [StaticString] = [
    "ftyp", "moov", "mdat", "moof", "mfra", "free", "skip", "wide", "uuid", "meta", "meco", "sidx", "ssix", "styp", "prft", "emsg", "pdin",
    "udta",
    "imda", "pnot",
  ]

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .header: return open(field)
    case .longSize:
      guard let high = field.big32(at: 0), let low = field.big32(at: 4), high < 1 << 16, case let size = high << 32 | low, size >= 16 else {
        return .failure(Self.badLength)
      }
      return pass(size - 16)
    case .content:
      hasIndex = hasIndex || isIndex
      hasOwnEnd = hasOwnEnd || isFragmentIndex
      place = .header
      return .success(.field(8))
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    guard hasIndex else { return Self.noIndex }
    guard case .header = place else { return WalkDefect("the file ends within a box") }
    return hasMedia ? nil : WalkDefect("the file ends before its media data (mdat)")
  }

  private static let badLength = WalkDefect("a box has an impossible length")
  private static let noIndex = WalkDefect("the file ends before its index (moov)")

  private mutating func pass(_ count: Int) -> Result<WalkStep, WalkDefect> {
    place = .content
    return .success(.skip(count))
  }

  private mutating func open(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    isIndex = field.holds("moov", at: 4)
    isFragmentIndex = field.holds("mfra", at: 4)
    if field.holds("moof", at: 4) { hasOwnEnd = false }
    hasMedia = hasMedia || field.holds("mdat", at: 4) || field.holds("imda", at: 4)
    if hasIndex, hasMedia, !Self.names.contains(where: { field.holds($0, at: 4) }) { return .success(.rest) }
    switch field.big32(at: 0) ?? 0 {
    // The box reaches to the end of the file.
    case 0:
      hasOwnEnd = false
      return (hasIndex || isIndex) && hasMedia ? .success(.rest) : .failure(Self.noIndex)
    case 1:
      place = .longSize
      return .success(.field(8))
    case 2..<8: return .failure(Self.badLength)
    case let size: return pass(size - 8)
    }
  }
}
