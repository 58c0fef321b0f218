/// GIF: blocks of sub-blocks, up to the trailer.
///
/// Many writers omit the trailer, and viewers do not need it. So the file may end after any
/// complete block once it has an image. Bytes that are not a block then end the file, too.
///
/// Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt
struct GIFWalk: FileWalk {
  private enum Position {
    case screen, colours, block, label, descriptor, imageColours, codeSize, length, data
  }

  let firstStep = WalkStep.field(13)
  private(set) var pictureSize: (width: Int, height: Int)?
  /// Whether the trailer has come.
  private(set) var hasOwnEnd = false
  private var place = Position.screen
  private var isWithinImage = false
  private var hasImage = false

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .screen:
      note(width: field.little16(at: 6), height: field.little16(at: 8))
      return want(.colours, .skip(Self.colourTableLength(field.byte(at: 10))))
    case .colours: return want(.block, .field(1))
    case .block: return open(field.byte(at: 0) ?? 0)
    case .descriptor:
      // An image may extend past the edge of the screen. Viewers enlarge the screen for it.
      if let left = field.little16(at: 0), let top = field.little16(at: 2), let width = field.little16(at: 4),
        let height = field.little16(at: 6)
      {
        note(width: left + width, height: top + height)
      }
      return want(.imageColours, .skip(Self.colourTableLength(field.byte(at: 8))))
    case .imageColours: return want(.codeSize, .field(1))
    case .label, .codeSize, .data: return want(.length, .field(1))
    case .length:
      guard let length = field.byte(at: 0), length == 0 else { return want(.data, .skip(field.byte(at: 0) ?? 0)) }
      hasImage = hasImage || isWithinImage
      return want(.block, .field(1))
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    if case .block = place, hasImage { return nil }
    return WalkDefect("the GIF ends within a block")
  }

  private mutating func want(_ place: Position, _ step: WalkStep) -> Result<WalkStep, WalkDefect> {
    self.place = place
    return .success(step)
  }

  private mutating func open(_ introducer: Int) -> Result<WalkStep, WalkDefect> {
    isWithinImage = introducer == 0x2C
    switch introducer {
    case 0x21: return want(.label, .field(1))
    case 0x2C: return want(.descriptor, .field(9))
    case 0x3B:
      hasOwnEnd = true
      return .success(.rest)
    default: return hasImage ? .success(.rest) : .failure(WalkDefect("the GIF contains something other than blocks"))
    }
  }

  private mutating func note(width: Int?, height: Int?) {
    guard let width, let height else { return }
    let known = pictureSize ?? (0, 0)
    pictureSize = (max(width, known.width), max(height, known.height))
  }

  private static func colourTableLength(_ packed: Int?) -> Int {
    guard let packed, packed & 0x80 != 0 else { return 0 }
    return 3 << (packed & 7 + 1)
  }
}

/// The header of a GIF, which must be complete and followed by what the format allows.
extension GIFWalk {
  /// A GIF has the screen descriptor, its colour table, and an image, an extension or the trailer.
  ///
  /// Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt
  static func verdict(_ head: FileHead) -> HeadVerdict {
    guard head.holds("GIF87a", at: 0) || head.holds("GIF89a", at: 0) else { return .broken }
    guard let packed = head.byte(at: 10), head.count >= 13 else { return .broken }
    guard let introducer = head.byte(at: 13 + colourTableLength(packed)) else { return head.beyond(.gif) }
    return [0x21, 0x2C, 0x3B].contains(introducer) ? .type(.gif) : .broken
  }
}
