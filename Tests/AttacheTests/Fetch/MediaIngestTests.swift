import AttacheTesting
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

  /// What becomes of a body that comes in pieces.
  private func end(
    of body: [UInt8], pieces: Int = 16_384, conversion: Conversion? = nil, isEndCertain: Bool = true
  ) throws -> Result<MediaIngest.Finished, FetchFailure> {
    let folder = AttachmentStoreTestFolder()
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 10_000_000, maximumAge: .seconds(3600))
    let detector = try TypeDetector()
    let ingest = MediaIngest(store: store, limits: MediaLimits(), conversion: conversion)
    func answer(_ question: MediaIngest.Question) -> Detection { detector.detect(question.prefix, isComplete: question.isComplete) }
    do {
      for start in stride(from: 0, to: body.count, by: pieces) {
        let piece = Array(body[start..<min(start + pieces, body.count)])
        try unsafe piece.withUnsafeBytes { try unsafe ingest.take($0, expecting: body.count - start) }
        if let question = ingest.takeQuestion() { _ = try ingest.handle(answer(question)) }
      }
      if let finished = try ingest.finish(isEndCertain: isEndCertain) { return .success(finished) }
      let question = try #require(ingest.takeQuestion())
      return .success(try #require(try ingest.handle(answer(question))))
    } catch let failure as FetchFailure {
      return .failure(failure)
    }
  }

  private func type(_ end: Result<MediaIngest.Finished, FetchFailure>) -> MediaType? {
    if case .success(.stored(let file)) = end { file.type } else { nil }
  }

  private func reason(_ end: Result<MediaIngest.Finished, FetchFailure>) -> Reason? {
    if case .failure(let failure) = end { failure.reason } else { nil }
  }

  @Test func `a PNG that Xcode optimised for an app is named as such, with what to do`() throws {
    for conversion in [nil, Conversion()] {
      guard case .failure(let failure) = try end(of: Sample.fixture("picture-app.png"), conversion: conversion) else {
        Issue.record("it is attached")
        continue
      }
      #expect(failure.reason == .typeUnsupported)
      for word in ["Xcode", "CgBI", "serve the original file", "pngcrush -revert-iphone-optimizations"] {
        #expect(failure.message.contains(word), "\(failure.message)")
      }
    }
  }
}
