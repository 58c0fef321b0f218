/// The header of one frame of MPEG audio (MPEG-1, MPEG-2 and MPEG-2.5; layers I to III).
///
/// Source: ISO/IEC 11172-3, 2.4.2.3, and ISO/IEC 13818-3, 2.4.2.3; MPEG-2.5 is Fraunhofer's
/// extension for 8 to 12 kHz.
struct MPEGAudioFrame: Equatable {
  enum Version: Equatable { case mpeg1, mpeg2, mpeg25 }
  enum Layer: Equatable { case one, two, three }

  var version: Version
  var layer: Layer
  /// The sample rate in Hz.
  var sampleRate: Int
  /// The number of bytes to the next frame.
  var length: Int

  /// Reads four bytes. Returns nil when they are not a frame header. A free bit rate is not
  /// accepted, because the length of its frames is unknown.
  init?(_ head: FileHead, at offset: Int) {
    guard let bits = head.big32(at: offset), bits >> 21 == 0x7FF, bits & 3 != 2 else { return nil }
    switch bits >> 19 & 3 {
    case 0: version = .mpeg25
    case 2: version = .mpeg2
    case 3: version = .mpeg1
    default: return nil
    }
    switch bits >> 17 & 3 {
    case 1: layer = .three
    case 2: layer = .two
    case 3: layer = .one
    default: return nil
    }
    let rateIndex = bits >> 12 & 15
    let sampleIndex = bits >> 10 & 3
    guard (1...14).contains(rateIndex), sampleIndex != 3 else { return nil }
    sampleRate = [44_100, 48_000, 32_000][sampleIndex] / (version == .mpeg1 ? 1 : version == .mpeg2 ? 2 : 4)
    let bitRate = Self.kilobits(version, layer)[rateIndex - 1] * 1_000
    let padding = bits >> 9 & 1
    length =
      switch layer {
      case .one: (12 * bitRate / sampleRate + padding) * 4
      case .two: 144 * bitRate / sampleRate + padding
      case .three: (version == .mpeg1 ? 144 : 72) * bitRate / sampleRate + padding
      }
  }

  /// Returns whether this header belongs to the same stream as another one.
  func continues(_ other: MPEGAudioFrame) -> Bool {
    version == other.version && layer == other.layer && sampleRate == other.sampleRate
  }

  /// The bit rates of indices 1 to 14, in kbit/s.
  private static func kilobits(_ version: Version, _ layer: Layer) -> [Int] {
    switch (version, layer) {
    case (.mpeg1, .one): [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
    case (.mpeg1, .two): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
    case (.mpeg1, .three): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    case (_, .one): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
    case (_, .two), (_, .three): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    }
  }
}

extension MPEGAudioFrame {
  /// The length of the longest frame of layer III, in bytes: 320 kbit/s at 32,000 Hz, padded.
  static let longest = 1_441
  /// In how many bytes the first frame is looked for, if a file does not begin with it.
  static let searchLength = 64 << 10
  /// The number of bytes that show whether there is a sound: the last place where it may begin, and
  /// two frames and a header from there.
  static let searchReach = searchLength + 2 * longest + 4

  /// Returns the number of consecutive frames of one stream from an offset, as far as the head
  /// shows, but at most three.
  static func run(in head: FileHead, from start: Int) -> Int {
    guard var frame = MPEGAudioFrame(head, at: start) else { return 0 }
    var offset = start
    var frames = 1
    while frames < 3, let next = MPEGAudioFrame(head, at: offset + frame.length), next.continues(frame) {
      offset += frame.length
      frame = next
      frames += 1
    }
    return frames
  }

  /// Searches for three consecutive frames of layer III, as players do where a file does not begin
  /// with its sound: behind an ID3 tag that is longer or shorter than it says, in a recording that
  /// begins within a frame, or behind a damaged frame.
  ///
  /// Random bytes contain them once in 10¹⁰ files.
  static func isSound(in head: FileHead, from start: Int) -> Bool {
    let end = min(start + searchLength, head.count)
    var offset = start
    while offset < end, let found = head.bytes[offset..<end].firstIndex(of: 0xFF) {
      if MPEGAudioFrame(head, at: found)?.layer == .three, run(in: head, from: found) == 3 { return true }
      offset = found + 1
    }
    return false
  }

  /// An MP3 is layer III after any number of ID3v2 tags. A second frame must follow, unless the file
  /// ends with the first. After a tag that is longer than the head, ``MP3Walk`` checks the sound when
  /// it arrives.
  static func verdict(_ head: FileHead) -> HeadVerdict {
    guard let start = ID3Tag.end(in: head) else { return head.beyond(.mp3) }
    guard let first = MPEGAudioFrame(head, at: start) else { return .broken }
    guard first.layer == .three else { return .foreign }
    let next = start + first.length
    guard next + 4 > head.count else { return run(in: head, from: start) > 1 ? .type(.mp3) : .broken }
    return !head.isWhole || next <= head.count ? .type(.mp3) : .broken
  }
}
