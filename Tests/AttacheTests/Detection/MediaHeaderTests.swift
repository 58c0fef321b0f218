import Testing

@testable import Attache

/// The pure functions that parse headers, as tables.
struct MediaHeaderTests {
  private func head(_ bytes: [UInt8], isWhole: Bool = true) -> FileHead { FileHead(bytes: bytes, isWhole: isWhole) }

  private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  @Test(
    arguments: [
      ([0xFF, 0xFB, 0x90, 0x00], MPEGAudioFrame.Version.mpeg1, MPEGAudioFrame.Layer.three, 44_100, 417),
      ([0xFF, 0xFB, 0x92, 0x00], .mpeg1, .three, 44_100, 418),
      ([0xFF, 0xFA, 0xE4, 0x00], .mpeg1, .three, 48_000, 960),
      ([0xFF, 0xF3, 0x40, 0xC0], .mpeg2, .three, 22_050, 104),
      ([0xFF, 0xE3, 0x18, 0xC0], .mpeg25, .three, 8_000, 72),
      ([0xFF, 0xFD, 0x80, 0x00], .mpeg1, .two, 44_100, 417),
      ([0xFF, 0xF5, 0x40, 0x00], .mpeg2, .two, 22_050, 208),
      ([0xFF, 0xFF, 0x14, 0x00], .mpeg1, .one, 48_000, 32),
    ] as [([UInt8], MPEGAudioFrame.Version, MPEGAudioFrame.Layer, Int, Int)])
  func `a frame header gives version, layer, rate and length`(
    _ bytes: [UInt8], _ version: MPEGAudioFrame.Version, _ layer: MPEGAudioFrame.Layer, _ sampleRate: Int, _ length: Int
  ) throws {
    let frame = try #require(MPEGAudioFrame(head(bytes), at: 0))
    #expect(frame.version == version)
    #expect(frame.layer == layer)
    #expect(frame.sampleRate == sampleRate)
    #expect(frame.length == length)
  }

  @Test(
    arguments: [
      [0xFF, 0xF1, 0x50, 0x80],  // ADTS: layer 0
      [0xFF, 0xEB, 0x90, 0x00],  // reserved version
      [0xFF, 0xFB, 0x00, 0x00],  // free bit rate
      [0xFF, 0xFB, 0xF0, 0x00],  // forbidden bit rate
      [0xFF, 0xFB, 0x9C, 0x00],  // reserved sample rate
      [0xFF, 0xFB, 0x90, 0x02],  // reserved emphasis
      [0xFF, 0xDB, 0x90, 0x00],  // ten bits of sync
      [0xFF, 0xFB, 0x90],
    ] as [[UInt8]])
  func `what is no frame header is none`(_ bytes: [UInt8]) {
    #expect(MPEGAudioFrame(head(bytes), at: 0) == nil)
  }

  @Test func `a second frame must follow where it can be seen`() {
    let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + zeros(413)
    let other: [UInt8] = [0xFF, 0xF3, 0x40, 0xC0] + zeros(100)
    #expect(MPEGAudioFrame.verdict(head(frame + frame)) == .type(.mp3))
    #expect(MPEGAudioFrame.verdict(head(frame)) == .type(.mp3))
    #expect(MPEGAudioFrame.verdict(head(frame.dropLast())) == .broken)
    #expect(MPEGAudioFrame.verdict(head(frame.dropLast(), isWhole: false)) == .type(.mp3))
    #expect(MPEGAudioFrame.verdict(head(frame + zeros(100))) == .broken)
    #expect(MPEGAudioFrame.verdict(head(frame + other)) == .broken)
  }

  @Test func `three frames without a name from libmagic are MP3, two are not`() {
    let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + zeros(413)
    #expect(MagicFormat(unnamed: head(frame + frame)) == nil)
    #expect(MagicFormat(unnamed: head(frame + frame + frame)) == .mpegAudio)
  }

  @Test(arguments: [
    ("ID3\u{2}\0\0\0\0\0\u{0B}TT2", 21), ("ID3\u{3}\0\0\0\0\u{1}\u{0F}TIT2", 153), ("ID3\u{4}\0\u{10}\0\0\0\u{0A}TIT2", 30),
    ("ID3\u{4}\0\0\u{7F}\u{7F}\u{7F}\u{7F}A", 268_435_465), ("ID3\u{3}\0\u{40}\0\0\0\u{0A}\0\0\0\u{6}", 20), ("ID3\u{3}\0\0\0\0\0\0", 10),
    ("ID3\u{3}\0\0\0\0\0\u{05}\0\0\0\0\0", 15),
  ])
  func `an ID3 tag has a length`(_ text: String, _ length: Int) {
    #expect(ID3Tag(head(Array(text.utf8)), at: 0)?.length == length)
  }

  @Test(arguments: [
    "ID3 tags: a short guide", "ID3\u{1}\0\0\0\0\0\u{5}TIT2", "ID3\u{5}\0\0\0\0\0\u{5}TIT2", "ID3\u{3}\0\u{1}\0\0\0\u{5}TIT2",
    "ID3\u{3}\0\0\0\0\0\u{5}text", "ID3\u{3}\0\0\0\0", "ID4\u{3}\0\0\0\0\0\u{5}TIT2",
  ])
  func `text that begins with ID3 is no tag`(_ text: String) {
    #expect(ID3Tag(head(Array(text.utf8)), at: 0) == nil)
  }

  @Test func `a size with a high bit is no tag`() {
    #expect(ID3Tag(head([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0x80, 5, 0x54]), at: 0) == nil)
  }

  @Test func `a tag longer than the head is believed only while more is to come`() {
    let tag = Array("ID3\u{3}\0\0\0\0\u{7F}\0TIT2".utf8)
    #expect(MPEGAudioFrame.verdict(head(tag, isWhole: false)) == .type(.mp3))
    #expect(MPEGAudioFrame.verdict(head(tag, isWhole: true)) == .broken)
  }

  @Test(
    arguments: [
      ([0, 0, 1, 0xBA, 0x21], 12, HeadVerdict.type(.mpeg)), ([0, 0, 1, 0xBA, 0x44], 14, .type(.mpeg)),
      ([0, 0, 1, 0xBA, 0x44], 13, .broken),
      ([0, 0, 1, 0xBA, 0x99], 20, .broken), ([0, 0, 1, 0xBB, 0x21], 20, .foreign), ([0, 0, 1, 0xB3, 0x04], 300, .broken),
    ] as [([UInt8], Int, HeadVerdict)])
  func `a pack header is public.mpeg`(_ start: [UInt8], _ length: Int, _ verdict: HeadVerdict) {
    #expect(MPEGVideoHeader.verdict(head(start + zeros(length - start.count))) == verdict)
  }

  @Test(arguments: [
    (0, 0xB5, MediaType.mpeg2), (0, 0xB8, .mpeg), (64, 0xB5, .mpeg2), (128, 0xB5, .mpeg2), (128, 0xB2, .mpeg), (64, 0xB8, .mpeg),
  ])
  func `the start code behind the sequence header tells MPEG-2 from MPEG-1`(_ matrices: Int, _ code: UInt8, _ type: MediaType) {
    let header: [UInt8] = [0, 0, 1, 0xB3, 0x04, 0x00, 0x30, 0x13, 0xFF, 0xFF, 0xE0, 0xA0] + [UInt8](repeating: 17, count: matrices)
    #expect(MPEGVideoHeader.verdict(head(header + [0, 0, 1, code, 0x14])) == .type(type))
    #expect(MPEGVideoHeader.verdict(head(header + [0, 0])) == .broken)
  }

  @Test(
    arguments: [
      ("isom", ISOBrand.movie), ("iso6", .movie), ("mp42", .movie), ("avc1", .movie), ("dash", .movie), ("cmfc", .movie), ("MSNV", .movie),
      ("M4A ", .audio), ("M4B ", .audio), ("M4V ", nil), ("M4VH", nil), ("M4P ", nil), ("qt  ", nil), ("3gp4", nil), ("3g2a", nil),
      ("heic", nil), ("mif1", nil), ("avif", nil), ("f4v ", nil), ("F4V ", nil), ("crx ", nil), ("jp2 ", nil), ("zzzz", nil),
    ] as [(String, ISOBrand?)])
  func `a major brand is listed or not`(_ text: String, _ brand: ISOBrand?) {
    #expect(ISOBrand(code: text.utf8.reduce(0) { $0 << 8 | Int($1) }) == brand)
  }

  private func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let size = content.count + 8
    return [0, 0, UInt8(size >> 8), UInt8(size & 255)] + Array(name.utf8) + content
  }

  private func track(_ handler: String) -> [UInt8] {
    box("trak", box("tkhd", zeros(84)) + box("mdia", box("mdhd", zeros(24)) + box("hdlr", zeros(8) + Array(handler.utf8) + zeros(12))))
  }

  private func movie(_ handlers: [String], tracks: UInt8) -> [UInt8] {
    box("ftyp", Array("isom\0\0\0\0isom".utf8)) + box("moov", box("mvhd", zeros(99) + [tracks + 1]) + handlers.flatMap(track))
  }

  @Test(arguments: [
    (["soun"], MediaType.mpeg4Audio), (["vide"], .mpeg4), (["soun", "vide"], .mpeg4), (["vide", "soun"], .mpeg4),
    (["soun", "soun"], .mpeg4Audio), (["soun", "text"], .mpeg4), ([], .mpeg4),
  ])
  func `a movie whose tracks are sound alone is audio`(_ handlers: [String], _ type: MediaType) {
    #expect(ISOBrand.verdict(head(movie(handlers, tracks: UInt8(handlers.count)))) == .type(type))
  }

  @Test func `tracks behind the head count as video`() {
    let one = movie(["soun"], tracks: 1)
    let two = movie(["soun", "vide"], tracks: 2)
    #expect(ISOBrand.verdict(head(movie(["soun"], tracks: 1) + box("mdat", zeros(99)), isWhole: false)) == .type(.mpeg4Audio))
    #expect(ISOBrand.verdict(head(Array(two.prefix(one.count)), isWhole: false)) == .type(.mpeg4))
    let later = box("ftyp", Array("isom\0\0\0\0".utf8)) + Array(box("mdat", zeros(500)).prefix(100))
    #expect(ISOBrand.verdict(head(later, isWhole: false)) == .type(.mpeg4))
    #expect(ISOBrand.verdict(head(later, isWhole: true)) == .broken)
  }

  @Test func `an index without its end is enough when its header counts the tracks`() {
    let padded =
      box("ftyp", Array("mp42\0\0\0\0".utf8))
      + [0, 0, 0x40, 0] + Array("moov".utf8) + box("mvhd", zeros(99) + [2]) + track("soun")
    #expect(ISOBrand.verdict(head(padded, isWhole: false)) == .type(.mpeg4Audio))
    #expect(ISOBrand.verdict(head(padded, isWhole: true)) == .broken)
  }

  @Test(arguments: [
    ("FFD8FFE00004AABBFFC00011080010001003011100021101031101", HeadVerdict.type(.jpeg)), ("FFD8FFC00011080010", .broken),
    ("FFD8FFFFFFDB0004AABBFFC2000B08001000100101110000", .type(.jpeg)), ("FFD8FFDA0008", .broken), ("FFD8FFD9", .broken),
    ("FFD8FFF7000B08001000100101110000", .foreign), ("FFD8FFE00001", .broken), ("FFD8FFE0000400003C68", .broken), ("FFD8FFE0FFFF", .broken),
    ("FFD8FFE00004AABB00FF00AAFFC00011080010001003011100021101031101", .type(.jpeg)),
    ("FFD8FFE00004AABBFFD8FFC0000B0800100010010111", .broken),
    ("FFD8FFFE0000FFC2000B08001000100101110000", .type(.jpeg)), ("FFD8FFD0FFC2000B08001000100101110000", .type(.jpeg)),
  ])
  func `a JPEG has a frame header before its scan`(_ hex: String, _ verdict: HeadVerdict) {
    #expect(JPEGWalk.verdict(head(bytes(hex))) == verdict)
  }

  @Test func `a JPEG whose frame header is to come is JPEG until the file ends`() {
    #expect(JPEGWalk.verdict(head(bytes("FFD8FFE1FFFF4578"), isWhole: false)) == .type(.jpeg))
    #expect(JPEGWalk.verdict(head(bytes("FFD8FFE1FFFF4578"), isWhole: true)) == .broken)
  }

  @Test func `a chunk longer than any sensible prelude is text`() {
    let text = Array("RIFF1234WAVEs of the sea".utf8)
    #expect(ChunkHeader.wave(head(text, isWhole: false)) == .broken)
    let junk = Array("RIFF\0\u{10}\0\0WAVEJUNK\0\u{8}\0\0".utf8)
    #expect(ChunkHeader.wave(head(junk, isWhole: false)) == .type(.wave))
    #expect(ChunkHeader.wave(head(junk, isWhole: true)) == .broken)
    #expect(ChunkHeader.wave(head(Array("RF64\0\u{10}\0\0WAVEds64".utf8), isWhole: false)) == .foreign)
  }

  @Test func `a chunk of odd length is padded`() {
    let wave = Array("RIFF\0\0\0\0WAVEnote\u{3}\0\0\0abc\0fmt \u{10}\0\0\0".utf8) + zeros(16)
    #expect(ChunkHeader.wave(head(wave)) == .type(.wave))
  }

  @Test func `libmagic's names of later versions stand for the same formats`() {
    #expect(MagicFormat(mime: "video/vnd.avi") == .avi)
    #expect(MagicFormat(mime: "audio/vnd.wave") == .wave)
    #expect(MagicFormat(mime: "image/apng") == .png)
    #expect(MagicFormat(mime: "image/webp") == nil)
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
  }
}
