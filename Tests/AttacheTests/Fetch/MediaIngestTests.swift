import Testing

@testable import Attache

struct MediaIngestTests {
  @Test(arguments: [(TypeDetector.prefixLength, true), (TypeDetector.prefixLength + 1, false)])
  func `a body that ends with the detector's prefix is judged as a complete file`(length: Int, isComplete: Bool) throws {
    let folder = AttachmentStoreTestFolder()
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000, maximumAge: .seconds(3600))
    let ingest = MediaIngest(store: store, limits: MediaLimits())
    let bytes = [UInt8](repeating: 7, count: length)
    try unsafe bytes.withUnsafeBytes { try unsafe ingest.take($0, expecting: length) }
    #expect(try ingest.finish() == nil)
    #expect(ingest.takeQuestion()?.isComplete == isComplete)
  }
}
