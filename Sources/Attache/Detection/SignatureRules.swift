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

/// Signatures that libmagic's own database (5.44) checks before the accepted formats, at other
/// offsets than theirs.
///
/// ``SignatureRules`` does not decide on a head that contains one of these. Only four bytes of each
/// signature are compared, which excludes more heads than libmagic would: each match goes to the
/// ``DetectorProcess``. The list omits signatures that cannot occur together with those of the
/// rules. It also omits signatures behind the head or at the end of a file, which libmagic does not
/// see in a buffer.
enum ConflictingSignatures {
  /// Returns whether the head contains one of the signatures.
  ///
  /// - Parameter start: the offset where the file begins in the head, such as the end of an ID3
  ///   tag.
  static func appears(in head: FileHead, from start: Int = 0) -> Bool {
    for mark in marks {
      let offset = start + mark.offset
      if offset < head.count, head.padded32(at: offset) & mark.mask == mark.value { return true }
    }
    return mayBeArchive(head) || mayBeBootSector(head, from: start)
  }

  /// tar: a checksum of at least three octal digits after spaces. libmagic also adds up the bytes;
  /// this code does not.
  private static func mayBeArchive(_ head: FileHead) -> Bool {
    var offset = 148
    let end = 156
    while offset < end, isSpace(head.byte(at: offset)) { offset += 1 }
    let start = offset
    while offset < end, let byte = head.byte(at: offset), (0x30...0x37).contains(byte) { offset += 1 }
    return offset - start >= 3 && (offset == end || head.byte(at: offset) == 0 || isSpace(head.byte(at: offset)))
  }

  private static func isSpace(_ byte: Int?) -> Bool {
    byte == 0x20 || byte.map((0x09...0x0D).contains) == true
  }

  /// A disk: 55 AA ends a sector whose size precedes it, or there are a size and a media type (F0
  /// to FF).
  private static func mayBeBootSector(_ head: FileHead, from start: Int) -> Bool {
    guard let size = head.little16(at: start + 11), let kind = head.byte(at: start + 21), size >= 2 else { return false }
    return head.big16(at: start + size - 2) == 0x55AA || size >= 32 && size % 32 == 0 && kind >= 0xF0
  }

  private struct Mark {
    var offset: Int
    var value: UInt32
    var mask = UInt32.max
  }

  private static let marks =
    names.flatMap { offset, names in names.map { Mark(offset: offset, value: number(of: $0)) } }
    + numbers.flatMap { offset, values in values.map { Mark(offset: offset, value: $0) } } + masked

  private static func number(of name: StaticString) -> UInt32 {
    name.withUTF8Buffer { unsafe $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  /// Names of four characters, in the order of their offsets.
  private static let names: [(Int, [StaticString])] = [
    (2, ["GARM", "W\0i\0"]),
    (4, ["1.0 ", "Stan", "Syne", "Tue ", "gtkt", "inno", "n+2\0", "ni2\0"]),
    (5, ["-pc1"]), (6, ["%!Fo", "%!PS", "%PS-"]), (7, ["**AC"]),
    (10, ["# Th", "BY S", "MIT-", "PLEX"]), (11, ["MIT-"]), (12, ["DSD ", "MIT-"]), (13, ["MIT-"]), (14, ["\u{1A}Jar", "MIT-"]),
    (15, ["MIT-"]),
    (16, ["MIT-", "SCPE", "SEGA", "STTT", "TIMG", "XIMG"]), (17, ["MIT-", "vers"]), (18, ["MIT-"]),
    (20, ["GIMP", "GPAT"]), (21, ["BMOD", "!SCR"]), (22, ["!Scr"]), (24, ["FTCO", "LVM2", "LxD "]), (26, ["sfAr"]), (28, ["make"]),
    (30, ["coll"]), (32, ["1SFB", "NXSB", "ORCL"]), (36, ["acsp"]), (38, ["Spre"]), (39, ["<gmr"]), (43, ["SFDU"]), (44, ["PTMF", "SCRM"]),
    (48, ["SymE"]), (56, ["ARMd", "USE ", "hpux", "linu", "netb", "suno"]), (58, ["SIDM"]),
    (60, ["BOOK", "BVok", "DATA", "DB99", "Data", "IM10", "Info", "JfDb", "Mdb1", "PNRd", "PmDB", "RINE", "SDoc"]),
    (60, ["SM01", "SONG", "TEXt", "Tdat", "ToGo", "ToRa", "W Co", "data", "libr", "ptch", "vIMG", "zTXT"]),
    (65, ["PNTG"]), (76, ["SCRS"]), (79, ["Tue "]), (90, ["WMPH"]), (92, ["PLOT"]),
    (109, ["MAP "]), (128, ["DICM"]), (139, ["SCMD"]), (230, ["%!Fo"]), (252, ["Must"]),
    (256, [" SEG", "HEAD", "IMA ", "NCCH", "NCSD", "Pict", "SAMS", "SEGA"]), (257, ["usta"]),
    (344, ["n+1\0", "ni1\0"]), (369, ["MICR"]), (384, ["Lock"]), (395, ["OS/2"]), (514, ["HdrS"]), (536, ["LVM2"]),
    (1008, ["DECF"]), (1024, ["M7R0"]), (1028, ["MMX\0"]), (1048, ["LVM2"]), (1062, ["MaDo"]),
    (1080, ["16CN", "32CN", "4CHN", "6CHN", "8CHN", "CD81", "FLT4", "FLT8", "M!K!", "M.K.", "OKTA"]),
    (1560, ["LVM2"]), (2048, ["PCD_"]), (4076, ["SWAP"]), (4086, ["SWAP"]),
  ]

  /// Big-endian numbers, in the order of their offsets.
  private static let numbers: [(Int, [UInt32])] = [
    (4, [0x0000_99FF, 0x0000_FF99, 0x0100_0100, 0x2000_0401, 0x24FF_AE51]), (7, [0xEF10_0000]), (8, [0x0200_0018, 0x1904_0010]),
    (11, [0x0100_0000]), (16, [0x1100_00EF, 0x5AA5_F00F, 0xBF00_06B9]), (17, [0xBF00_06B9]), (18, [0xBF00_06B9]),
    (19, [0xBF00_06B9, 0x400B_F009, 0x400B_F905, 0xA005_F903, 0xA005_F905, 0xD002_F003, 0xD002_F805]), (20, [0xDCA7_C4FD]),
    (24, [0x0000_EA6B, 0x0000_EA6C, 0x0000_EA6D, 0x0000_EA6E, 0x1901_5419, 0x1954_0119, 0x5D1C_9EA3, 0x6BEA_0000]), (28, [0xC233_9F3D]),
    (36, [0x016F_2818, 0x1828_6F01]), (86, [0xE9C0_0090]), (192, [0x24FF_AE51, 0xC860_4FE2]), (260, [0xCEED_6666]), (512, [0x8948_4446]),
    (1024, [0x1020_F5F2, 0x8948_4446, 0xE2E1_F5E0]), (2048, [0x46FC_2700, 0x8948_4446]),
  ]

  /// An embedded font, a disk and a boot sector.
  private static let masked = [
    Mark(offset: 34, value: 0x4C50_0000, mask: 0xFFFF_0000), Mark(offset: 86, value: 0xEB00_9090, mask: 0xFF00_FFFF),
    Mark(offset: 510, value: 0x55AA_0000, mask: 0xFFFF_0000),
  ]
}

/// The formats that attache inspects, by libmagic's names, and the function that reads the header
/// of each.
///
/// libmagic's names are coarser than Apple's identifiers, and differ between versions. Types whose
/// names are not listed are refused.
enum MagicFormat: Equatable {
  case jpeg, png, gif, aiff, wave, avi, mpegAudio, mpegVideo, isoMedia

  /// Returns the format for libmagic's MIME name (of 5.44, or the equivalent of later versions), or
  /// nil for a format that Apple does not list.
  init?(mime: String) {
    switch mime {
    case "image/jpeg": self = .jpeg
    case "image/png", "image/apng", "image/vnd.mozilla.apng": self = .png
    case "image/gif": self = .gif
    case "audio/x-aiff", "audio/aiff": self = .aiff
    case "audio/x-wav", "audio/wav", "audio/vnd.wave": self = .wave
    case "video/x-msvideo", "video/vnd.avi": self = .avi
    case "audio/mpeg": self = .mpegAudio
    case "video/mpeg": self = .mpegVideo
    case "audio/x-m4a", "audio/mp4", "video/mp4": self = .isoMedia
    default: return nil
    }
  }

  /// Returns the format of a head that libmagic cannot name. libmagic 5.44 misses three cases: an
  /// ID3 tag longer than the prefix (it looks for the frame behind the tag), some MP3 frames, and
  /// ISO brands newer than itself.
  init?(unnamed head: FileHead) {
    if head.holds("ftyp", at: 4) {
      self = .isoMedia
    } else if ID3Tag(head, at: 0) != nil || MPEGAudioFrame.run(in: head, from: 0) >= 3 {
      self = .mpegAudio
    } else {
      return nil
    }
  }

  /// Reads the header of this format and returns the verdict.
  func verdict(_ head: FileHead) -> HeadVerdict {
    switch self {
    case .jpeg: JPEGWalk.verdict(head)
    case .png: PNGWalk.verdict(head)
    case .gif: GIFWalk.verdict(head)
    case .aiff: ChunkHeader.aiff(head)
    case .wave: ChunkHeader.wave(head)
    case .avi: ChunkHeader.avi(head)
    case .mpegAudio: MPEGAudioFrame.verdict(head)
    case .mpegVideo: MPEGVideoHeader.verdict(head)
    case .isoMedia: ISOBrand.verdict(head)
    }
  }
}
