import AttacheTesting
import Testing

@testable import Attache

/// Checks of the structure of files, as tables, without network and disk.
struct FileStructureTests {
  private static let formats: [MediaType] = [.jpeg, .png, .gif, .mpeg4, .mpeg4Audio, .wave, .aiff, .avi, .mp3]

  private func defect(of file: some Sequence<UInt8>, as type: MediaType, pieces: Int = 65_536, pixels: Int = 50_000_000) -> FileDefect? {
    let bytes = Array(file)
    guard var structure = FileStructure(of: type, maximumPixels: pixels) else { return nil }
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = bytes[start..<min(start + pieces, bytes.count)]
      if let defect = unsafe piece.withUnsafeBytes({ unsafe structure.read($0) }) { return defect }
    }
    return structure.end()
  }

  private func isBroken(_ bytes: some Sequence<UInt8>, as type: MediaType) -> Bool {
    if case .broken = defect(of: bytes, as: type) { true } else { false }
  }

  private func marksEnd(_ bytes: [UInt8], as type: MediaType) -> Bool {
    guard var structure = FileStructure(of: type, maximumPixels: 50_000_000) else { return false }
    _ = unsafe bytes.withUnsafeBytes { unsafe structure.read($0) }
    return structure.marksEnd
  }

  private func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  @Test(arguments: MediaFixture.accepted)
  func `a good file is whole in any pieces, and with anything behind it`(_ fixture: MediaFixture) throws {
    let type = try #require(fixture.answer.type.flatMap(MediaType.init(rawValue:)))
    let bytes = try fixture.bytes
    for pieces in [1, 7, 1000, bytes.count] { #expect(defect(of: bytes, as: type, pieces: pieces) == nil) }
    for rest in [zeros(3), zeros(9000), ascii("PK\u{3}\u{4} and more of an archive"), bytes] {
      #expect(defect(of: bytes + rest, as: type) == nil)
    }
  }

  @Test(arguments: MediaFixture.defective)
  func `a file that is damaged or too large a picture is seen in any pieces`(_ fixture: MediaFixture) throws {
    let type: MediaType = fixture.name.hasSuffix(".jpg") ? .jpeg : .png
    for pieces in [1, 7, 65_536] {
      switch defect(of: try fixture.bytes, as: type, pieces: pieces) {
      case .broken: #expect(fixture.answer.reason == "type.broken")
      case .foreign(let text): Issue.record("\(text)")
      case .tooManyPixels(let width, let height):
        #expect(fixture.answer.reason == "size.pixels")
        #expect((width, height) == (50_000, 50_000))
      case nil: Issue.record("no defect was found")
      }
    }
  }

  @Test(arguments: [
    ("photo.jpg", MediaType.jpeg), ("photo-progressive.jpg", .jpeg), ("picture.png", .png), ("picture-animated.png", .png),
    ("clip.mp4", .mpeg4),
    ("voice.m4a", .mpeg4Audio),
  ])
  func `a file is cut off wherever it is cut`(_ name: String, _ type: MediaType) throws {
    let bytes = try MediaFixture(name: name, answer: .init()).bytes
    for length in stride(from: 1, to: bytes.count, by: max(1, bytes.count / 300)) {
      #expect(isBroken(Array(bytes.prefix(length)), as: type))
    }
    #expect(isBroken(Array(bytes.dropLast()), as: type))
  }

  @Test(arguments: [("sound.wav", MediaType.wave), ("sound.aiff", .aiff), ("movie.avi", .avi)])
  func `a form may lack no byte that it counts`(_ name: String, _ type: MediaType) throws {
    let bytes = try MediaFixture(name: name, answer: .init()).bytes
    #expect(marksEnd(bytes, as: type))
    for missing in [1, 2, 8, 44, 45, bytes.count - 12] {
      for pieces in [1, 7, 65_536] {
        #expect(defect(of: bytes.dropLast(missing), as: type, pieces: pieces) == .broken("\(missing) bytes are missing at its end"))
      }
    }
  }

  /// A WAVE of these lengths, with 100 bytes of sound.
  private func wave(form: [UInt8], data: [UInt8], before: [UInt8] = []) -> [UInt8] {
    let format = ascii("fmt ") + [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x40, 0x1F, 0, 0, 1, 0, 8, 0]
    return ascii("RIFF") + form + ascii("WAVE") + format + before + ascii("data") + data + zeros(100)
  }

  @Test(arguments: [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0x24, 0xF0, 0xFF, 0x7F], [0x24, 0, 0, 0x80]] as [[UInt8]])
  func `the length that a writer did not know counts nothing, and shows no end`(_ unknown: [UInt8]) throws {
    for (form, data) in [(unknown, unknown), ([136, 0, 0, 0], unknown), ([36, 0, 0, 0], unknown), (unknown, [100, 0, 0, 0])] {
      let file = wave(form: form, data: data)
      #expect(defect(of: file, as: .wave) == nil)
      #expect(!marksEnd(file, as: .wave))
    }
    #expect(isBroken(wave(form: unknown, data: [100, 0, 0, 0]).dropLast(), as: .wave))
    #expect(isBroken(wave(form: [136, 0, 0, 0], data: unknown).dropLast(), as: .wave))
  }

  @Test func `the sound counts even where the form counts less, and a sloppy chunk before it does not`() {
    let stale = wave(form: [36, 0, 0, 0], data: [100, 0, 0, 0])
    #expect(defect(of: stale, as: .wave) == nil && marksEnd(stale, as: .wave))
    #expect(defect(of: stale.dropLast(), as: .wave) == .broken("1 bytes are missing at its end"))
    // A chunk of three bytes without its pad byte, as some writers leave it.
    let sloppy = wave(form: [147, 0, 0, 0], data: [100, 0, 0, 0], before: ascii("note") + [3, 0, 0, 0, 1, 2, 3])
    #expect(defect(of: sloppy, as: .wave) == nil)
    #expect(defect(of: sloppy.dropLast(), as: .wave) == .broken("1 bytes are missing at its end"))
  }

  @Test func `fragments show their end only by their index`() throws {
    let bytes = try MediaFixture(name: "voice-fragmented.mp4", answer: .init()).bytes
    let index = try #require(bytes.firstRange(of: ascii("mfra"))?.lowerBound) - 4
    #expect(marksEnd(bytes, as: .mpeg4))
    #expect(defect(of: bytes.prefix(index), as: .mpeg4) == nil)
    #expect(!marksEnd(Array(bytes.prefix(index)), as: .mpeg4))
  }

  @Test(arguments: MediaFixture.accepted)
  func `only some formats mark their end`(_ fixture: MediaFixture) throws {
    let type = try #require(fixture.answer.type.flatMap(MediaType.init(rawValue:)))
    let isMarked = ![.mp3, .mpeg, .mpeg2].contains(type)
    #expect(marksEnd(try fixture.bytes, as: type) == isMarked)
  }

  @Test func `every byte of a PNG counts`() throws {
    let bytes = try MediaFixture(name: "picture.png", answer: .init()).bytes
    for index in bytes.indices.dropFirst(8) {
      var mutant = bytes
      mutant[index] ^= 1
      #expect(defect(of: mutant, as: .png) != nil, "\(index)")
    }
  }

  @Test func `a wrong checksum counts only where a PNG cannot be shown without the chunk`() throws {
    // IHDR, pHYs, IDAT and IEND.
    let bytes = try MediaFixture(name: "picture-ffmpeg.png", answer: .init()).bytes
    let name = try #require(bytes.firstRange(of: ascii("pHYs")))
    for index in bytes.indices.dropFirst(16) {
      var mutant = bytes
      mutant[index] ^= 1
      let isIgnored = name.upperBound..<name.upperBound + 13 ~= index || mutant[name].allSatisfy(\.isLetterASCII) && name ~= index
      for pieces in [1, 65_536] { #expect((defect(of: mutant, as: .png, pieces: pieces) == nil) == isIgnored, "\(index)") }
    }
    var nameless = bytes
    nameless[name.lowerBound] = UInt8(ascii: "!")
    #expect(defect(of: nameless, as: .png) == .broken("a PNG chunk has an impossible name"))
  }

  @Test(arguments: ["VEND", "CgBI", "IDAX", "iHdR", "veND"])
  func `a PNG with a critical chunk that no decoder knows is broken`(name: String) throws {
    let bytes = try MediaFixture(name: "picture-critical.png", answer: .init()).bytes
    var named = bytes
    named.replaceSubrange(37..<41, with: ascii(name))
    let text = "the PNG has a critical chunk '\(name)', which is not in the standard, so no decoder shows the picture"
    let isCritical = name.first?.isUppercase == true
    // The checksum of the other chunks is wrong, which does not matter.
    for pieces in [1, 65_536] { #expect(defect(of: named, as: .png, pieces: pieces) == (isCritical ? .broken(text) : nil)) }
  }

  @Test func `a PNG without a picture is broken`() throws {
    let bytes = try MediaFixture(name: "picture.png", answer: .init()).bytes
    #expect(defect(of: Array(bytes.prefix(33) + bytes.suffix(12)), as: .png) == .broken("the PNG contains no picture"))
  }

  @Test func `a GIF may end without its trailer, not within a block`() throws {
    let bytes = try MediaFixture(name: "animation.gif", answer: .init()).bytes
    #expect(bytes.last == 0x3B)
    #expect(defect(of: bytes.dropLast(), as: .gif) == nil)
    #expect(isBroken(bytes.dropLast(2), as: .gif))
    #expect(isBroken(Array(bytes.prefix(20)), as: .gif))
    #expect(defect(of: ascii("GIF89a\t\t\t\t   ;"), as: .gif) == nil)
  }

  @Test func `a JPEG's pixels are those of its frame header, wherever it stands, or of its lines`() throws {
    let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 0, 100, 0, 200, 1, 1, 0x11, 0]
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0xFF, 0, 0x34, 0xFF, 0xD0, 0x56]
    let end: [UInt8] = [0xFF, 0xD9]
    #expect(defect(of: frame + scan + end, as: .jpeg, pixels: 20_000) == nil)
    #expect(defect(of: frame + scan + end, as: .jpeg, pixels: 19_999) == .tooManyPixels(width: 200, height: 100))
    var open = frame
    open[14] = 0
    #expect(isBroken(open + scan + end, as: .jpeg))
    let lines: [UInt8] = [0xFF, 0xDC, 0, 4, 0, 100]
    #expect(defect(of: open + scan + lines + end, as: .jpeg, pixels: 20_000) == nil)
    #expect(defect(of: open + scan + lines + end, as: .jpeg, pixels: 19_999) == .tooManyPixels(width: 200, height: 100))
    #expect(isBroken(frame + end, as: .jpeg))
  }

  /// A JPEG in three parts: its start, and a frame header and a scan of one component.
  private static let (jpegStart, jpegFrame, jpegScan): ([UInt8], [UInt8], [UInt8]) = (
    [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2], [0xFF, 0xC0, 0, 11, 8, 0, 100, 0, 200, 1, 1, 0x11, 0],
    [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0xFF, 0, 0x34, 0xFF, 0xD9]
  )

  @Test(
    arguments: [
      Array("more of the comment".utf8), [0xFF, 0x00, 0xFF, 0x00, 7], [7, 0xFF, 0xFF], [0xFF, 0xD0, 9, 0xFF, 0x01, 9],
      [0xFF, 0xFE, 0, 0, 9], [0xFF, 0xE1, 0, 1], [0xFF, 0xDC, 0, 4, 0, 100],
    ] as [[UInt8]])
  func `bytes between the segments of a JPEG are skipped up to the next marker`(_ rest: [UInt8]) {
    let (start, frame, scan) = (Self.jpegStart, Self.jpegFrame, Self.jpegScan)
    for file in [start + rest + frame + scan, start + frame + rest + scan, start + rest + frame + rest + scan] {
      #expect(JPEGWalk.verdict(FileHead(bytes: file, isWhole: true)) == .type(.jpeg))
      for pieces in [1, 7, 65_536] {
        #expect(defect(of: file, as: .jpeg, pieces: pieces) == nil)
        #expect(defect(of: file, as: .jpeg, pieces: pieces, pixels: 19_999) == .tooManyPixels(width: 200, height: 100))
        #expect(isBroken(file.dropLast(), as: .jpeg))
      }
    }
  }

  @Test(
    arguments: [[0xFF, 0xD8], [0xFF, 0x02], [0xFF, 0xBF], [0xFF, 0xF0], [0xFF, 0xDE], [0xFF, 0xC8], [0xFF, 0xC4, 0, 1]] as [[UInt8]])
  func `what libjpeg refuses before the data of a JPEG is a defect`(_ marker: [UInt8]) {
    let (start, frame, scan) = (Self.jpegStart, Self.jpegFrame, Self.jpegScan)
    #expect(isBroken(start + marker + frame + scan, as: .jpeg))
    #expect(isBroken(start + frame + ascii("rest") + marker + scan, as: .jpeg))
    #expect(JPEGWalk.verdict(FileHead(bytes: start + marker + frame + scan, isWhole: true)) == .broken)
    #expect(isBroken(start + scan, as: .jpeg), "there is no frame")
    #expect(isBroken(start + frame + frame + scan, as: .jpeg), "there are two frames")
  }

  @Test func `the segments that a decoder needs have the length of their content`() throws {
    let bytes = try MediaFixture(name: "photo.jpg", answer: .init()).bytes
    var (offset, codes) = (2, [UInt8]())
    repeat {
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      codes.append(bytes[offset + 1])
      for change in [-3, -1, 1, 2, 3, 20] {
        var mutant = bytes
        (mutant[offset + 2], mutant[offset + 3]) = (UInt8((length + change) >> 8), UInt8((length + change) & 0xFF))
        // JFIF is text, and may be shorter than it says.
        if bytes[offset + 1] != 0xE0 { #expect(isBroken(mutant, as: .jpeg), "\(codes) \(change)") }
      }
      offset += 2 + length
    } while codes.last != 0xDA
    #expect(Set(codes).isSuperset(of: [0xE0, 0xDB, 0xC0, 0xC4, 0xDA]))
    let interval: [UInt8] = [0xFF, 0xDD, 0, 4, 0, 8]
    #expect(defect(of: bytes.prefix(2) + interval + bytes.dropFirst(2), as: .jpeg) == nil)
    #expect(isBroken(bytes.prefix(2) + [0xFF, 0xDD, 0, 2] + bytes.dropFirst(2), as: .jpeg))
  }

  @Test func `random bytes behind the start of a JPEG are none`() {
    var random = SeededGenerator(seed: 81)
    for _ in 0..<300 {
      let bytes = [0xFF, 0xD8, 0xFF] + (0..<1_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      #expect(defect(of: bytes, as: .jpeg) != nil)
    }
  }

  @Test func `an image that reaches over a GIF's screen counts`() throws {
    let screen = ascii("GIF89a") + [1, 0, 1, 0, 0, 0, 0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 0x10, 0x27, 0x10, 0x27, 0, 2, 1, 0, 0, 0x3B]
    #expect(defect(of: screen + image, as: .gif) == .tooManyPixels(width: 10_000, height: 10_000))
    #expect(defect(of: screen + image, as: .gif, pixels: 100_000_000) == nil)
  }

  @Test func `boxes are walked by either size, and the last may go on to the end`() {
    let brand = [0, 0, 0, 16] + ascii("ftypisom\0\0\0\0")
    let index = [0, 0, 0, 8] + ascii("moov")
    let long = [0, 0, 0, 1] + ascii("mdat") + zeros(7) + [20] + ascii("data")
    let open = zeros(4) + ascii("mdat") + zeros(99)
    #expect(defect(of: brand + index + open, as: .mpeg4) == nil)
    #expect(defect(of: brand + long + index, as: .mpeg4) == nil)
    #expect(isBroken(brand + index + long.dropLast(), as: .mpeg4))
    #expect(isBroken(brand + open, as: .mpeg4))
    #expect(isBroken(brand + long, as: .mpeg4))
    #expect(isBroken(brand + [0, 0, 0, 7] + ascii("moov"), as: .mpeg4))
    #expect(isBroken(brand + index, as: .mpeg4))
    #expect(isBroken(brand + index + long + [0, 0, 0, 99] + ascii("moof"), as: .mpeg4))
    #expect(defect(of: brand + index + long + [0, 0, 0, 99] + ascii("????"), as: .mpeg4) == nil)
    #expect(isBroken(brand + [0, 0, 0, 1] + ascii("mdat") + [UInt8](repeating: 0xFF, count: 8) + index, as: .mpeg4))
  }

  @Test func `any bytes are walked without a trap, with the same answer in any pieces`() throws {
    var random = SeededGenerator(seed: 4_096)
    for fixture in MediaFixture.accepted {
      let bytes = Array(try fixture.bytes.prefix(3000))
      for type in Self.formats {
        var mutant = bytes
        for _ in 0..<4 {
          mutant[Int.random(in: 0..<mutant.count, using: &random)] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        }
        let whole = defect(of: mutant, as: type)
        #expect(defect(of: mutant, as: type, pieces: 13) == whole, "\(fixture.name) as \(type)")
      }
    }
  }

  /// An ID3v2.4 tag of this many bytes, including its header.
  static func tag(_ length: Int) -> [UInt8] {
    let size = length - 10
    return Array("ID3\u{4}\0\0".utf8) + [21, 14, 7, 0].map { UInt8(size >> $0 & 0x7F) } + [UInt8](repeating: 0, count: size)
  }

  @Test(arguments: [20, 4_000, 4_090, 4_096, 5_000, 300_000]) func `what stands behind an ID3 tag is an MP3 or foreign`(_ length: Int)
    throws
  {
    let song = Sample.fixture("song-tagless.mp3")
    for pieces in [7, 4_096, 1_000_000] {
      #expect(defect(of: Self.tag(length) + song, as: .mp3, pieces: pieces) == nil)
      #expect(defect(of: Self.tag(length) + Self.tag(200) + zeros(100) + song, as: .mp3, pieces: pieces) == nil)
      for other in [
        ascii("fLaC\0\0\0\u{22}"), ascii("OggS\0\u{2}"), [0xFF, 0xF1, 0x50, 0x80, 0, 0], [0xFF, 0xFD, 0x90, 0, 0, 0], ascii("text"),
        zeros(9_000),
      ] {
        guard case .foreign = defect(of: Self.tag(length) + other + zeros(5_000), as: .mp3, pieces: pieces) else {
          Issue.record("\(other) is not MP3")
          continue
        }
      }
    }
    #expect(isBroken(Self.tag(length), as: .mp3) && isBroken(Self.tag(length).dropLast(), as: .mp3))
    for cut in [1, 3, 4, 100] { #expect(isBroken(Self.tag(length) + song.prefix(cut), as: .mp3), "\(cut)") }
    let frame = try #require(MPEGAudioFrame(FileHead(bytes: song, isWhole: true), at: 0)).length
    for cut in [frame, frame + 4, 2 * frame - 1] { #expect(defect(of: Self.tag(length) + song.prefix(cut), as: .mp3) == nil, "\(cut)") }
  }

  @Test(arguments: [1, 44, 1_044, 5_000, 60_000]) func `a tag may be shorter or longer than it is, and a recording may begin anywhere`(
    _ rest: Int
  ) {
    let song = Sample.fixture("song-tagless.mp3")
    var random = SeededGenerator(seed: 35)
    let noise = (0..<rest).map { _ in UInt8.random(in: 1...255, using: &random) }
    for pieces in [7, 1_000_000] {
      for start: [UInt8] in [[], Self.tag(4_096), Self.tag(20) + Self.tag(20)] {
        #expect(defect(of: start + noise + song, as: .mp3, pieces: pieces) == nil)
        #expect(defect(of: start + noise.map { $0 & 0x7F } + song, as: .mp3, pieces: pieces) == nil)
      }
      // A tag that takes the first bytes of the sound away, and a sound whose first frame is damaged.
      #expect(defect(of: Self.tag(5_000).dropLast(rest % 4_000) + song + song, as: .mp3, pieces: pieces) == nil)
      #expect(defect(of: song.prefix(100) + song, as: .mp3, pieces: pieces) == nil)
      // A tag whose length does not spare the highest bits is none.
      #expect(defect(of: ascii("ID3\u{3}\0\0\0\0\u{F}") + [0xF6] + noise + song, as: .mp3, pieces: pieces) == nil)
    }
  }

  @Test func `the sound of an MP3 begins within 64 KB, with three frames`() throws {
    let song = Sample.fixture("song-tagless.mp3")
    let frame = try #require(MPEGAudioFrame(FileHead(bytes: song, isWhole: true), at: 0)).length
    func isForeign(_ bytes: [UInt8]) -> Bool {
      if case .foreign = defect(of: bytes, as: .mp3, pieces: 10_000) { true } else { false }
    }
    let text = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
    #expect(defect(of: text.dropLast() + song, as: .mp3) == nil)
    #expect(isForeign(text + song.prefix(3 * frame)))
    #expect(defect(of: ascii("x") + song.prefix(2 * frame + 6), as: .mp3) == nil)
    #expect(isForeign(ascii("x") + song.prefix(2 * frame) + zeros(9)))
    let other = Sample.fixture("sound-twolame.mp2")
    #expect(isForeign(ascii("x") + other), "layer II is not MP3")
  }

  @Test func `neither random bytes nor text are an MP3`() {
    var random = SeededGenerator(seed: 3_000)
    for number in 0..<300 {
      let length = Int.random(in: 1...4_096, using: &random)
      var bytes: [UInt8] = []
      while bytes.count < length {
        let word = random.next()
        let letters = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        // Random bytes, text in Latin-1 with many letters above ASCII, or in UTF-8.
        bytes += number % 3 == 0 ? letters : letters.map { number % 3 == 1 ? $0 | 0x60 : $0 & 0x7F }
      }
      let head = FileHead(bytes: bytes, isWhole: true)
      #expect(!MPEGAudioFrame.isSound(in: head, from: 0))
      #expect(MPEGAudioFrame.verdict(head) != .type(.mp3))
      #expect(defect(of: bytes, as: .mp3) != nil)
    }
  }
}
