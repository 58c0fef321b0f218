import AttacheTesting
import Testing

@testable import Attache

@Suite struct StandInTests {
  @Test(arguments: StandIn.names) func `a stand-in is what its name says at every size`(name: String) throws {
    let detector = try TypeDetector()
    let smallest = try #require((0...512).first { (try? StandIn.bytes(ofType: name, size: $0)) != nil })
    for size in [max(1, smallest), smallest + 1, 213, 512, 4_096, 4_097, 100_000] {
      let bytes = try StandIn.bytes(ofType: name, size: size)
      #expect(bytes.count == size)
      let detection = unsafe bytes.prefix(TypeDetector.prefixLength).withUnsafeBytes {
        unsafe detector.detect($0, isComplete: size <= TypeDetector.prefixLength)
      }
      switch detection {
      case .accepted(let type):
        #expect(type.fileExtension == name)
        var structure = FileStructure(of: type, maximumPixels: 10_000)
        let defect = unsafe bytes.withUnsafeBytes { unsafe structure?.read($0) }
        #expect(defect == nil)
        #expect(structure?.end() == nil)
      case .undecided(let failure): Issue.record("\(failure)")
      case .refused(let reason, _): #expect(reason == ["html": .typeUnsupported, "bin": .typeUnknown][name])
      }
    }
  }

  @Test func `a name of another form is none`() throws {
    #expect(try StandIn.bytes(named: "photo.jpg") == nil)
    #expect(try StandIn.bytes(named: "stand-in-x.jpg") == nil)
  }
}
