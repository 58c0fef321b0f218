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
