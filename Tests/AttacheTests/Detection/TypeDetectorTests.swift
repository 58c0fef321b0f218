import AttacheTesting
import Testing

@testable import Attache

struct TypeDetectorTests {
  @Test(arguments: MediaFixture.accepted)
  func `an accepted file has its type from 512 bytes, from 4,096 and whole`(_ fixture: MediaFixture) throws {
    let detector = try TypeDetector()
    let bytes = try fixture.bytes
    let type = try #require(fixture.answer.type.flatMap(MediaType.init(rawValue:)))
    for length in [512, 4096, bytes.count] {
      let prefix = Array(bytes.prefix(length))
      #expect(detector.detect(prefix, isComplete: length >= bytes.count) == .accepted(type), "\(length) bytes")
    }
  }

  @Test(arguments: MediaFixture.refused.filter { !MediaFixture.defective.contains($0) })
  func `a wrong file is refused for its reason`(_ fixture: MediaFixture) throws {
    let detector = try TypeDetector()
    let bytes = try fixture.bytes
    let reason = try #require(fixture.answer.reason.flatMap(Reason.init(rawValue:)))
    #expect(detector.detect(bytes, isComplete: true).reason == reason)
    #expect(detector.detect(Array(bytes.prefix(4096)), isComplete: bytes.count <= 4096).reason == reason)
  }

  @Test(arguments: [
    ("page.png", "text/html"), ("page-bare.jpg", "text/html"), ("drawing.svg", "image/svg+xml"), ("photo.webp", "image/webp"),
    ("photo.heic", "image/heic"), ("letter.pdf", "application/pdf"), ("archive.mp4", "application/zip"), ("error.json", "application/json"),
    ("notes.txt", "text/plain"), ("clip.mov", "video/quicktime"), ("empty.jpg", "application/x-empty"),
    ("noise.bin", "application/octet-stream"),
  ])
  func `a refusal names what was found`(_ name: String, _ found: String) throws {
    let bytes = try MediaFixture(name: name, answer: .init()).bytes
    guard case .refused(_, let name) = try TypeDetector().detect(bytes, isComplete: true) else {
      Issue.record("accepted")
      return
    }
    #expect(name == found)
  }

  @Test func `bytes past the first 4,096 change nothing`() throws {
    let detector = try TypeDetector()
    let bytes = try MediaFixture(name: "movie.avi", answer: .init()).bytes
    let spoilt = Array(bytes.prefix(4096)) + [UInt8](repeating: 0x3C, count: 5000)
    #expect(detector.detect(spoilt, isComplete: true) == .accepted(.avi))
  }

  @Test func `one detector gives the same answers in any order`() throws {
    let detector = try TypeDetector()
    let files = try MediaFixture.all.map { try $0.bytes }
    let forwards = files.map { detector.detect($0, isComplete: true) }
    let backwards = files.reversed().map { detector.detect($0, isComplete: true) }
    #expect(forwards == backwards.reversed())
  }

  @Test func `mutated and cut prefixes never crash`() throws {
    let detector = try TypeDetector()
    var random = SeededGenerator(seed: 20_240_229)
    for fixture in MediaFixture.all {
      let bytes = Array(try fixture.bytes.prefix(4096))
      for _ in 0..<8 {
        var mutant = Array(bytes.prefix(bytes.isEmpty ? 0 : Int.random(in: 1...bytes.count, using: &random)))
        for _ in 0..<min(mutant.count, Int.random(in: 1...12, using: &random)) {
          // Most headers are at the start.
          let reach = Bool.random(using: &random) ? min(64, mutant.count) : mutant.count
          mutant[Int.random(in: 0..<reach, using: &random)] =
            [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
        }
        let isComplete = Bool.random(using: &random)
        let first = detector.detect(mutant, isComplete: isComplete)
        #expect(first == detector.detect(mutant, isComplete: isComplete), "\(fixture.name)")
      }
    }
  }

  @Test func `headers are read without a trap from any bytes behind any magic number`() {
    var random = SeededGenerator(seed: 7)
    let starts: [[UInt8]] = [
      [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8), Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVE".utf8), Array("ID3\u{4}\0\0".utf8), [0xFF, 0xFB],
      Array("\0\0\0\u{14}ftypisom\0\0\0\0isom\0\0\0\u{1}moov".utf8), [0, 0, 1, 0xB3], Array("FORM\0\0\0\0AIFC".utf8), [],
    ]
    let formats: [MagicFormat] = [.jpeg, .png, .gif, .aiff, .wave, .avi, .mpegAudio, .mpegVideo, .isoMedia]
    for start in starts {
      for _ in 0..<200 {
        let tail = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) & 0x8F }
        for isWhole in [true, false] {
          let head = FileHead(bytes: start + tail, isWhole: isWhole)
          _ = MagicFormat(unnamed: head)
          for format in formats { _ = format.verdict(head) }
        }
      }
    }
  }
}

extension TypeDetector {
  /// Detects the type of an array.
  func detect(_ bytes: [UInt8], isComplete: Bool) -> Detection {
    unsafe bytes.withUnsafeBytes { unsafe detect($0, isComplete: isComplete) }
  }
}

extension Detection {
  /// The reason of a refusal.
  var reason: Reason? {
    if case .refused(let reason, _) = self { reason } else { nil }
  }
}
