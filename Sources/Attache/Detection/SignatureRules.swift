/// Signatures of the accepted formats. Most files need no question to the ``DetectorProcess``.
///
/// The answer is the same as from libmagic's own database, or there is none. A signature requires
/// more of a head than that database does, the header must be valid, and ``ConflictingSignatures``
/// excludes what other rules of the database would match first. The process decides on all other
/// files and names their types.
enum SignatureRules {
  /// Returns the type of a file if it is certain, otherwise nil.
  static func type(of head: FileHead) -> MediaType? {
    guard let format = format(of: head), case .type(let type) = format.verdict(head), !ConflictingSignatures.appears(in: head) else {
      return nil
    }
    return format != .mpegAudio || isAudioAlone(head) ? type : nil
  }

  /// libmagic looks for all its formats behind an ID3 tag. If it has no name for those bytes, the
  /// tag or three frames decide.
  private static func isAudioAlone(_ head: FileHead) -> Bool {
    guard MagicFormat(unnamed: head) == .mpegAudio else { return false }
    guard let start = ID3Tag(head, at: 0)?.length, start < head.count else { return true }
    guard let sync = head.big16(at: start) else { return false }
    return sync | 1 == 0xFFFB && !ConflictingSignatures.appears(in: head, from: start)
  }

  /// Returns the format whose signature the head has. The signatures exclude each other.
  private static func format(of head: FileHead) -> MagicFormat? {
    guard let start = head.big32(at: 0) else { return nil }
    if start & 0xFFFF_FF00 == 0xFFD8_FF00 { return .jpeg }
    if start == 0x8950_4E47 { return isSmallPNG(head) ? .png : nil }
    if head.holds("GIF87a", at: 0) || head.holds("GIF89a", at: 0) { return hasSquarePixels(head) ? .gif : nil }
    if head.holds("RIFF", at: 0) { return riffFormat(head) }
    if head.holds("FORM\0", at: 0) { return isAIFF(head) ? .aiff : nil }
    if head.holds("ftyp", at: 4) { return start < 256 && hasKnownBrand(head) ? .isoMedia : nil }
    if start >> 16 | 1 == 0xFFFB { return .mpegAudio }
    if head.holds("ID3", at: 0) { return isPlainTag(head) ? .mpegAudio : nil }
    if start == 0x0000_01BA { return isMPEG1Stream(head) || isMPEG2Stream(head) ? .mpegVideo : nil }
    if start == 0x0000_01B3 { return isMPEGVideo(head) ? .mpegVideo : nil }
    return nil
  }

  /// A PNG file that begins with its header, at most 65,535 pixels wide and high.
  private static func isSmallPNG(_ head: FileHead) -> Bool {
    head.big32(at: 4) == 0x0D0A_1A0A && head.big32(at: 8) == 13 && head.holds("IHDR", at: 12) && head.big16(at: 16) == 0
      && head.big16(at: 20) == 0
  }

  /// The aspect ratio of a GIF file's pixels is not given, or is 1 (49).
  private static func hasSquarePixels(_ head: FileHead) -> Bool {
    head.byte(at: 12) == 0 || head.byte(at: 12) == 49
  }

  /// A RIFF file of less than 16 MiB that begins with its format.
  private static func riffFormat(_ head: FileHead) -> MagicFormat? {
    guard head.byte(at: 7) == 0 else { return nil }
    if head.holds("WAVEfmt ", at: 8), let length = head.little32(at: 16), length < 64 { return .wave }
    return head.holds("AVI LIST", at: 8) && head.holds("hdrlavih8\0\0\0", at: 20) ? .avi : nil
  }

  /// A FORM file that begins with its description or version.
  private static func isAIFF(_ head: FileHead) -> Bool {
    head.holds("AIFFCOMM\0\0\0\u{12}", at: 8) || head.holds("AIFCFVER\0\0\0\u{4}", at: 8)
  }

  private static func hasKnownBrand(_ head: FileHead) -> Bool {
    brands.contains { head.holds($0, at: 8) }
  }

  private static let brands: [StaticString] = ["iso", "mp4", "M4A ", "M4B ", "avc1", "dash"]

  /// An ID3 tag with no rare flags, which holds padding or a frame with an upper-case name.
  private static func isPlainTag(_ head: FileHead) -> Bool {
    guard let flags = head.big32(at: 3), flags & 0x00FF_1F80 == 0, let next = head.byte(at: 10) else { return false }
    return next == 0 || (0x41...0x5A).contains(next)
  }

  /// The pack header of an MPEG-1 program stream, and the system header's start behind it.
  private static func isMPEG1Stream(_ head: FileHead) -> Bool {
    head.has(0x2100_0100, under: 0xF100_0100, at: 4) && head.has(0x0180_0001, under: 0x0180_0001, at: 8)
      && head.has(0x0000_0100, under: 0xFFFF_FF00, at: 12)
  }

  /// The pack header of an MPEG-2 program stream without stuffing, and the next start code.
  private static func isMPEG2Stream(_ head: FileHead) -> Bool {
    head.has(0x4400_0400, under: 0xC400_0400, at: 4) && head.has(0x0401_0000, under: 0x0401_0000, at: 8)
      && head.has(0x03F8_0000, under: 0x03FF_FFFF, at: 12) && head.byte(at: 16) == 1
  }

  /// The sequence header of an MPEG video without matrices, and the next start code.
  private static func isMPEGVideo(_ head: FileHead) -> Bool {
    head.has(0x2000, under: 0x2000, at: 8) && head.has(0x0000_0100, under: 0xFFFF_FF00, at: 12)
  }
}

extension FileHead {
  /// Returns whether the four bytes at an offset, as a big-endian number under a mask, are a value.
  fileprivate func has(_ value: Int, under mask: Int, at offset: Int) -> Bool {
    big32(at: offset).map { $0 & mask == value } ?? false
  }
}
