/// MP3: ID3v2 tags and zero bytes, then the first two frames, which identify the file: FLAC and AAC
/// may also follow a tag.
///
/// The head of a file shows the frames only after short tags, and a tag with a cover is longer.
/// Bytes after the second frame are ignored: nothing marks the end of the last one.
struct MP3Walk: FileWalk {
  private enum Position {
    /// The first byte of a tag or of a frame, or a zero between them.
    case start
    case tagHeader, tag, frameHeader, frame, secondHeader
  }

  let firstStep = WalkStep.field(1)
  let hasOwnEnd = false
  private var place = Position.start
  private var hasTag = false
  private var zeros = 0
  private var first: MPEGAudioFrame?

  /// The maximum number of zero bytes between the tags and the sound: as many as the head of a file
  /// can show.
  private static let maximumZeros = 4096
  private static let (tagHeaderLength, frameHeaderLength) = (10, 4)
  private static let foreign = WalkDefect("the bytes after its ID3 tag are not MP3", isForeign: true)

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .start: return start(field.byte(at: 0) ?? 0)
    case .tagHeader:
      guard let tag = ID3Tag(FileHead(bytes: Array("I".utf8) + field.bytes, isWhole: true), at: 0) else { return .failure(Self.foreign) }
      hasTag = true
      return want(.tag, .skip(tag.length - Self.tagHeaderLength))
    case .tag: return want(.start, .field(1))
    case .frameHeader:
      let head = FileHead(bytes: [0xFF] + field.bytes, isWhole: true)
      guard let frame = MPEGAudioFrame(head, at: 0), frame.layer == .three else { return .failure(Self.foreign) }
      first = frame
      return want(.frame, .skip(max(0, frame.length - Self.frameHeaderLength)))
    case .frame: return want(.secondHeader, .field(Self.frameHeaderLength))
    case .secondHeader:
      guard let first, let second = MPEGAudioFrame(field, at: 0), second.continues(first) else { return .failure(Self.foreign) }
      return .success(.rest)
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    switch place {
    case .start, .tagHeader, .tag, .frameHeader: WalkDefect("the MP3 ends before its sound")
    // A short sound may consist of one frame; players do not need all of the last one.
    case .frame, .secondHeader: nil
    }
  }

  private mutating func start(_ byte: Int) -> Result<WalkStep, WalkDefect> {
    switch byte {
    case Int(UInt8(ascii: "I")): return want(.tagHeader, .field(Self.tagHeaderLength - 1))
    case 0xFF: return want(.frameHeader, .field(Self.frameHeaderLength - 1))
    case 0 where hasTag && zeros < Self.maximumZeros:
      zeros += 1
      return want(.start, .field(1))
    default: return .failure(Self.foreign)
    }
  }

  private mutating func want(_ place: Position, _ step: WalkStep) -> Result<WalkStep, WalkDefect> {
    self.place = place
    return .success(step)
  }
}
