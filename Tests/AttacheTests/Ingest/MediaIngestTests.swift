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

  @Test(arguments: [16_384, 1_000_000]) func `an MP3 whose sound begins late is found within 64 KB`(pieces: Int) throws {
    let song = Sample.fixture("song-tagless.mp3")
    let text = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
    let noise = Sample.fixture("noise.bin")
    // The tag says 20 bytes, and has 64.
    let short = FileStructureTests.tag(20) + Array("The rest of a title, which is too long, \0\0\0\0".utf8)
    let long = FileStructureTests.tag(4_096) + noise
    let far = noise + [UInt8](text.prefix(60_000)) + song
    for body: [UInt8] in [short + song, long + song, noise + song, far, Array(song.prefix(200)) + song] {
      #expect(type(try end(of: body, pieces: pieces)) == .mp3)
      // Nothing shows the end of a sound.
      #expect(reason(try end(of: body, pieces: pieces, isEndCertain: false)) == .httpTruncated)
    }
    // The second tag begins at the end of the detector's bytes.
    let tags = FileStructureTests.tag(4_090) + FileStructureTests.tag(100_000)
    #expect(type(try end(of: tags + song, pieces: pieces)) == .mp3)
    for body: [UInt8] in [noise, noise + text + song, noise + text + text + song, short + noise, [0xFF, 0xFB, 0x90, 0x44] + noise] {
      #expect(reason(try end(of: body, pieces: pieces)) == .typeUnknown)
    }
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

  @Test(arguments: [("photo-header-cut.jpg", "image/jpeg"), ("picture-header-cut.png", "image/png")])
  func `a file that begins as its type does, and is cut off in its header, is named as damaged`(name: String, mime: String) throws {
    guard case .failure(let failure) = try end(of: Sample.fixture(name)) else {
      Issue.record("it is attached")
      return
    }
    #expect(failure.reason == .typeUnknown)
    #expect(failure.message.contains("begin as \(mime)") && failure.message.contains("repair the file at the origin"))
  }

  @Test(arguments: [
    ([0xEF, 0xBB, 0xBF] as [UInt8], "photo.jpg", "3 bytes precede the start of a JPEG; remove them at the origin"),
    (Array("\n".utf8), "photo.jpg", "1 byte precedes the start of a JPEG; remove it at the origin"),
    (Array("\r\n".utf8), "picture.png", "2 bytes precede the start of a PNG"),
    (Array("<br>\n".utf8), "animation.gif", "5 bytes precede the start of a GIF"),
  ])
  func `bytes before the start of a picture are counted`(before: [UInt8], name: String, message: String) throws {
    guard case .failure(let failure) = try end(of: before + Sample.fixture(name)) else {
      Issue.record("it is attached")
      return
    }
    #expect(failure.reason == .typeUnknown || failure.reason == .typeUnsupported)
    #expect(failure.message.hasPrefix(message), "\(failure.message)")
  }

  @Test func `a damaged JPEG is a picture to convert only where the end of the body is certain`() throws {
    let endless = Sample.fixture("photo-endless.jpg")
    for body in [endless, endless + [UInt8](repeating: 0, count: 200_000)] {
      #expect(reason(try end(of: body)) == .typeBroken)
      #expect(reason(try end(of: body, conversion: Conversion(), isEndCertain: false)) == .typeBroken)
      guard case .success(.picture(let picture)) = try end(of: body, conversion: Conversion()) else {
        Issue.record("no picture")
        continue
      }
      #expect(picture.format == .jpeg && picture.acceptableType == nil && picture.damage?.reason == .typeBroken)
      #expect(picture.file.size > body.count, "an end marker comes behind it")
    }
    for name in ["picture-cut.png", "picture-checksum.png"] {
      #expect(reason(try end(of: Sample.fixture(name), conversion: Conversion())) == .typeBroken, "\(name)")
    }
  }
}
