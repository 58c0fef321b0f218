import Foundation
import Testing

@testable import Attache

/// The signatures, compared with libmagic's own database, whose answer is correct.
struct SignatureRulesTests {
  private func head(_ bytes: [UInt8], isWhole: Bool) -> FileHead {
    FileHead(bytes: Array(bytes.prefix(TypeDetector.prefixLength)), isWhole: isWhole && bytes.count <= TypeDetector.prefixLength)
  }

  @Test func `what the rules accept, libmagic's own database accepts as the same`() throws {
    let detector = try TypeDetector(asksAlways: true)
    for fixture in MediaFixture.all {
      let bytes = try fixture.bytes
      for length in [512, 4096, bytes.count] where length > 0 {
        let prefix = Array(bytes.prefix(length))
        let isComplete = length >= bytes.count
        guard let type = SignatureRules.type(of: head(prefix, isWhole: isComplete)) else { continue }
        #expect(detector.detect(prefix, isComplete: isComplete) == .accepted(type), "\(fixture.name)")
      }
    }
  }

  @Test func `of ten thousand mutants, the rules accept none that libmagic's own database calls something else`() throws {
    let detector = try TypeDetector(asksAlways: true)
    var mutants = try MediaMutants(of: MediaFixture.all, seed: 257)
    var accepted = 0
    for _ in 0..<10_000 {
      let mutant = mutants.next()
      for isWhole in [false, true] {
        guard let type = SignatureRules.type(of: head(mutant, isWhole: isWhole)) else { continue }
        accepted += 1
        let answer = detector.detect(mutant, isComplete: isWhole)
        if answer != .accepted(type) { Issue.record("\(type) is \(answer): \(mutant.prefix(64).hex)") }
      }
    }
    #expect(accepted > 2_500)
  }

  /// Files of rarer brands and rates, with matrices, and with other chunks before the description.
  private static let doubtful: Set = [
    "clip-cmaf.mp4", "clip-psp.mp4", "film-matrices.m1v", "film-matrices.m2v", "song-11khz.mp3", "song-16khz.mp3", "song-22khz.mp3",
    "song-24khz-stereo.mp3", "song-8khz-id3.mp3", "song-8khz.mp3", "sound-24bit.aiff", "sound-junk.wav", "sound-list.wav",
  ]

  @Test func `all but a few accepted files need no process`() throws {
    let detector = try TypeDetector()
    for fixture in MediaFixture.accepted where !Self.doubtful.contains(fixture.name) {
      let type = try #require(fixture.answer.type.flatMap(MediaType.init(rawValue:)))
      #expect(detector.detect(try fixture.bytes, isComplete: true) == .accepted(type))
      #expect(detector.child == nil, "\(fixture.name)")
    }
    // A tag of zeros, as some encoders write it.
    let tagged = Array("ID3\u{4}\0\0\0\0\0\u{A}".utf8) + [UInt8](repeating: 0, count: 10) + Sample.fixture("song-tagless.mp3")
    #expect(detector.detect(tagged, isComplete: true) == .accepted(.mp3))
    #expect(detector.child == nil)
    #expect(detector.detect(Array("plain".utf8), isComplete: true).reason == .typeUnsupported)
    #expect(detector.child != nil)
  }

  @Test(arguments: [
    "photo.jpg", "picture.png", "animation.gif", "sound-plain.wav", "movie.avi", "sound.aiff", "sound-float.aifc", "clip.mp4", "voice.m4a",
    "song.mp3", "song-tagless.mp3", "film.mpg", "film-mpeg2.mpg", "film.m1v",
  ])
  func `another format's magic number in an accepted file does not mislead the rules`(_ name: String) throws {
    let detector = try TypeDetector(asksAlways: true)
    let bytes = Array(Sample.fixture(name).prefix(TypeDetector.prefixLength))
    let starts = [0, ID3Tag(head(bytes, isWhole: false), at: 0)?.length].compactMap(\.self)
    for (offset, magic) in MediaMutants.magic where offset > 0 {
      for start in starts.map({ $0 + offset }) where start + magic.count <= bytes.count {
        var graft = bytes
        graft.replaceSubrange(start..<start + magic.count, with: magic)
        guard let type = SignatureRules.type(of: head(graft, isWhole: false)) else { continue }
        let answer = detector.detect(graft, isComplete: false)
        if answer != .accepted(type) { Issue.record("\(magic.hex) at \(start): \(type) is \(answer)") }
      }
    }
  }
}

extension Sequence<UInt8> {
  /// Two digits per byte.
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
