@testable import Attache

/// Heads of files made from those of Fixtures/media, the same in every run: bytes flipped, spans overwritten, heads cut, spliced and given
/// another's brand, and magic numbers of other formats where those have them.
struct MediaMutants {
  private let heads: [[UInt8]]
  private var random: SplitMix

  init(of fixtures: [MediaFixture], seed: UInt64) throws {
    heads = try fixtures.map { Array(try $0.bytes.prefix(TypeDetector.prefixLength)) }.filter { !$0.isEmpty }
    random = SplitMix(state: seed)
  }

  mutating func next() -> [UInt8] {
    var head = anyHead()
    for _ in 0..<Int.random(in: 1...2, using: &random) { change(&head) }
    return head
  }

  private mutating func anyHead() -> [UInt8] {
    heads.randomElement(using: &random) ?? [0]
  }

  private mutating func change(_ head: inout [UInt8]) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: flip(&head)
    case 1: overwrite(&head)
    case 2: head.removeLast(Int.random(in: 0..<head.count, using: &random))
    case 3: splice(&head)
    case 4: rebrand(&head)
    default: graft(&head)
    }
  }

  /// Most headers stand in front.
  private mutating func place(in head: [UInt8]) -> Int {
    Int.random(in: 0..<(Bool.random(using: &random) ? min(64, head.count) : head.count), using: &random)
  }

  private mutating func flip(_ head: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...8, using: &random) { head[place(in: head)] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
  }

  private mutating func overwrite(_ head: inout [UInt8]) {
    let byte = [0, 0xFF, 0x20, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
    let start = place(in: head)
    for index in start..<min(head.count, start + Int.random(in: 1...64, using: &random)) { head[index] = byte }
  }

  private mutating func splice(_ head: inout [UInt8]) {
    let other = anyHead()
    let start = place(in: head)
    if start < other.count { head.replaceSubrange(start..., with: other[start...]) }
  }

  private mutating func rebrand(_ head: inout [UInt8]) {
    let other = anyHead()
    let part = [0..<4, 4..<8, 8..<12, 0..<12, 12..<16].randomElement(using: &random) ?? 0..<4
    if part.upperBound <= min(head.count, other.count) { head.replaceSubrange(part, with: other[part]) }
  }

  private mutating func graft(_ head: inout [UInt8]) {
    guard let (offset, bytes) = Self.magic.randomElement(using: &random), offset + bytes.count <= head.count else { return }
    head.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// Magic numbers of other formats, and the offsets at which libmagic looks for them.
  static let magic: [(Int, [UInt8])] =
    [
      (0, "MZ"), (0, "\u{7F}ELF"), (0, "BM"), (0, "PK\u{3}\u{4}"), (0, "%PDF-1.4"), (0, "Rar!\u{1A}"), (0, "7z"),
      (0, "<?xml version=\"1.0\"?>"),
      (0, "<html>"), (0, "#!/bin/sh\n"), (0, "{\"a\":1}"), (0, "OggS"), (0, "fLaC"), (2, "GARMIN "), (2, "-lh5-"), (4, "ftypheic"),
      (4, "ftypavif"), (4, "ftypqt  "), (4, "ftypM4V "), (4, "ftyp3gp4"), (4, "moov"), (4, "mdat"), (4, "Standard Jet DB"),
      (4, "pgscriptver"),
      (6, "%!PS-AdobeFont-1.0"), (7, "**ACE**"), (8, "WEBPVP8 "), (8, "RMID"), (8, "ILBM"), (8, "8SVX"), (8, "OracleCFS"),
      (10, "# This is a shell archive"), (10, "MIT-MAGIC-COOKIE-1"), (12, "DSD "), (14, "\u{1A}Jar\u{1B}"), (16, "MIT-MAGIC-COOKIE-1"),
      (16, "SEGADISCSYSTEM  "), (16, "XIMG\0"), (20, "GIMP"), (21, "!SCREAM!"), (24, "LVM2 001"), (26, "sfArk"), (28, "make config"),
      (30, "collection.anki2"), (32, "NXSB"), (32, "ORCLDISK"), (36, "acsp"), (38, "Spreadsheet"), (39, "<gmr:Workbook"),
      (43, "SFDU_LABEL"),
      (40, "P12.3456.7890.1"), (44, "SCRM"), (44, "PTMF"), (48, "SymExe"), (56, "USE LYNX TO DISSOLVE THIS FILE"), (56, "linux"),
      (58, "SIDMON II - THE"),
      (60, "BOOKMOBI"), (60, "TEXtREAd"), (60, "RINEX VERSION / TYPE"), (65, "PNTGMPNT"), (76, "SCRS"),
      (79, "Tue Jan 22 14:32:44 MET 1991"),
      (92, "PLOT%%84"), (109, "MAP ("), (128, "DICM"), (139, "SCMD"), (148, "0012345\0"), (230, "%!FontType1"),
      (252, "Must have DOS version"),
      (256, "SEGA MEGA DRIVE"), (256, "IMA IKUNOUJYUKU"), (257, "ustar\0"), (257, "ustar  \0"), (344, "n+1\0"), (369, "MICROSOFT PIFEX\0"),
      (384, "LockStream"), (395, "OS/2"), (514, "HdrS"), (536, "LVM2 001"), (1008, "DECFILE11"), (1024, "M7R0\nI"), (1062, "MaDoKaN96"),
      (1080, "M.K."), (1080, "FLT4"), (2048, "PCD_IPI"), (4076, "SWAPSPACE2"), (4086, "SWAP-SPACE"),
    ].map { ($0, Array($1.utf8)) } + [
      (0, [0xFF, 0xD8, 0xFF, 0xF7]), (0, [0x1F, 0x8B, 8]), (0, [0x1A, 0x45, 0xDF, 0xA3]), (0, [0, 0, 1, 0]), (0, [0x47, 0x40, 0, 0x10]),
      (4, [0x24, 0xFF, 0xAE, 0x51, 0x69, 0x9A, 0xA2, 0x21]), (11, [1, 0, 0, 0, 0]), (11, [0, 2]), (21, [0xF8]),
      (19, [0x40, 0x0B, 0xF0, 9, 0, 0x12, 0, 2, 0]), (16, [0xBF, 0, 6, 0xB9, 0, 1]), (24, [0, 0, 0xEA, 0x6B]),
      (28, [0xC2, 0x33, 0x9F, 0x3D]), (86, [0xEB, 0x52, 0x90, 0x90]),
      (64, [UInt8](repeating: 0, count: 16)), (34, [0x4C, 0x50]), (260, [0xCE, 0xED, 0x66, 0x66, 0xCC, 0x0D, 0, 0x0B]),
      (192, [0x24, 0xFF, 0xAE, 0x51, 0x69, 0x9A, 0xA2, 0x21]), (510, [0x55, 0xAA]), (254, [0x55, 0xAA]),
      (512, [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]), (1024, [0x10, 0x20, 0xF5, 0xF2]),
      (2048, [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A]),
    ]
}
