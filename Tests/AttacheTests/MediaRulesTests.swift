import Foundation
import Testing

@testable import Attache

/// The small database beside libmagic's own, whose answer is the right one.
struct MediaRulesTests {
  private func head(_ bytes: [UInt8], isWhole: Bool) -> FileHead {
    FileHead(bytes: Array(bytes.prefix(TypeDetector.prefixLength)), isWhole: isWhole && bytes.count <= TypeDetector.prefixLength)
  }

  @Test func `what the rules accept, libmagic's own database accepts as the same`() throws {
    let rules = try #require(MediaRules())
    let detector = try TypeDetector(asksAlways: true)
    var accepted: [String] = []
    for fixture in MediaFixture.all {
      let bytes = try fixture.bytes
      for length in [512, 4096, bytes.count] where length > 0 {
        let prefix = Array(bytes.prefix(length))
        let isComplete = length >= bytes.count
        guard let type = rules.type(of: head(prefix, isWhole: isComplete)) else { continue }
        #expect(detector.detect(prefix, isComplete: isComplete) == .accepted(type), "\(fixture.name)")
        accepted.append(fixture.name)
      }
    }
    #expect(Set(accepted).count > 80)
  }

  @Test func `of ten thousand mutants, the rules accept none that libmagic's own database calls something else`() throws {
    let rules = try #require(MediaRules())
    let detector = try TypeDetector(asksAlways: true)
    var mutants = try MediaMutants(of: MediaFixture.all, seed: 257)
    var accepted = 0
    for _ in 0..<10_000 {
      let mutant = mutants.next()
      for isWhole in [false, true] {
        guard let type = rules.type(of: head(mutant, isWhole: isWhole)) else { continue }
        accepted += 1
        let answer = detector.detect(mutant, isComplete: isWhole)
        if answer != .accepted(type) { Issue.record("\(type) is \(answer): \(mutant.prefix(64).hex)") }
      }
    }
    #expect(accepted > 2_500)
  }

  @Test func `a file that the rules accept needs no process, and another gets one`() throws {
    let detector = try TypeDetector()
    for (bytes, type) in [(Sample.png, MediaType.png), (Sample.mp3, .mp3)] {
      #expect(detector.detect(bytes, isComplete: true) == .accepted(type))
    }
    #expect(detector.child == nil)
    #expect(detector.detect(Array("plain".utf8), isComplete: true).reason == .typeUnsupported)
    #expect(detector.child != nil)
  }

  @Test func `without a folder of descriptors there are no rules`() {
    #expect(MediaRules(descriptors: "/nowhere") == nil)
  }

  @Test func `another format's magic number in an accepted file leaves the decision to libmagic's own database`() throws {
    let rules = try #require(MediaRules())
    let detector = try TypeDetector(asksAlways: true)
    for fixture in MediaFixture.accepted {
      let bytes = Array(try fixture.bytes.prefix(TypeDetector.prefixLength))
      for (offset, magic) in MediaMutants.magic where offset + magic.count <= bytes.count {
        var graft = bytes
        graft.replaceSubrange(offset..<offset + magic.count, with: magic)
        guard let type = rules.type(of: head(graft, isWhole: false)) else { continue }
        #expect(detector.detect(graft, isComplete: false) == .accepted(type), "\(fixture.name), \(magic.hex) at \(offset)")
      }
    }
  }
}

extension Sequence<UInt8> {
  /// Two digits a byte.
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
