/// MP3: ID3v2 tags and zero bytes, then frames, which identify the file: FLAC and AAC may also follow
/// a tag.
///
/// The head of a file shows the frames only after short tags, and a tag with a cover is longer. Two
/// frames are enough where the sound should begin. Otherwise three are searched for
/// (``MPEGAudioFrame/isSound(in:from:)``). Bytes after them are ignored: nothing marks the end of the
/// last one.
struct MP3Walk: FileWalk {
  private enum Position {
    /// The first byte of a tag or of the sound, or a zero between them.
    case start
    case tagHeader, tag, frames, search
  }

  let firstStep = WalkStep.field(1)
  let hasOwnEnd = false
  private var place = Position.start
  private var hasTag = false
  private var zeros = 0
  /// The bytes from where the sound should begin, at most ``MPEGAudioFrame/searchReach``.
  private var sound: [UInt8] = []

  /// The maximum number of zero bytes between the tags and the sound: as many as the head of a file
  /// can show.
  private static let maximumZeros = 4096
  private static let tagHeaderLength = 10
  /// The first frame, and the header of the second.
  private static let framesLength = MPEGAudioFrame.longest + 4
  private static let foreign = WalkDefect("no MP3 frames follow its ID3 tag within 64 KB", isForeign: true)

  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect> {
    switch place {
    case .start: return .success(start(field.byte(at: 0) ?? 0))
    case .tagHeader:
      let bytes = [UInt8(ascii: "I")] + field.bytes
      guard let tag = ID3Tag(FileHead(bytes: bytes, isWhole: true), at: 0) else { return .success(toFrames(from: bytes)) }
      hasTag = true
      return .success(want(.tag, .skip(tag.length - Self.tagHeaderLength)))
    case .tag: return .success(want(.start, .field(1)))
    case .frames:
      if beginsAtOnce { return .success(.rest) }
      return .success(want(.search, .skip(MPEGAudioFrame.searchReach - sound.count)))
    case .search: return isSound ? .success(.rest) : .failure(Self.foreign)
    }
  }

  mutating func pass(_ bytes: UnsafeRawBufferPointer) {
    switch place {
    case .start, .tagHeader, .tag: break
    case .frames, .search: unsafe sound.append(contentsOf: bytes)
    }
  }

  func end(missing: Int?) -> WalkDefect? {
    if beginsAtOnce || isSound { return nil }
    // The sound may begin, but not a frame of it is complete.
    let isCut = sound.count < 4 || MPEGAudioFrame(FileHead(bytes: sound, isWhole: true), at: 0).map { $0.length > sound.count } == true
    return isCut ? WalkDefect("the MP3 ends before its sound") : Self.foreign
  }

  /// A short sound may consist of one frame; players do not need all of the last one.
  private var beginsAtOnce: Bool {
    MPEGAudioFrame.verdict(FileHead(bytes: sound, isWhole: true)) == .type(.mp3)
  }

  private var isSound: Bool {
    MPEGAudioFrame.isSound(in: FileHead(bytes: sound, isWhole: true), from: 0)
  }

  private mutating func start(_ byte: Int) -> WalkStep {
    switch byte {
    case Int(UInt8(ascii: "I")): return want(.tagHeader, .field(Self.tagHeaderLength - 1))
    case 0 where hasTag && zeros < Self.maximumZeros:
      zeros += 1
      return want(.start, .field(1))
    default: return toFrames(from: [UInt8(byte)])
    }
  }

  private mutating func toFrames(from bytes: [UInt8]) -> WalkStep {
    sound = bytes
    return want(.frames, .skip(Self.framesLength - bytes.count))
  }

  private mutating func want(_ place: Position, _ step: WalkStep) -> WalkStep {
    self.place = place
    return step
  }
}
