import AttacheTesting
import Foundation
import Glibc
import Testing

@testable import Attache

/// A converter that crashes, hangs or lies, as one might that a picture has taken over.
@Suite(.timeLimit(.minutes(2))) struct ConverterProcessTests {
  @Test(arguments: [
    (Misbehaviour.crash, Reason.convertFailed), (.otherAnswer, .convertFailed), (.garbage, .convertFailed), (.wrongType, .convertFailed),
    (.flood, .convertFailed), (.loop, .convertDeadline), (.wait, .convertDeadline),
  ])
  func `it costs its picture, is replaced, and an acceptable original is attached`(misbehaviour: Misbehaviour, reason: Reason) async throws
  {
    try await withFetchStage(converter: misbehaviour, configure: { $0.steps = [.convert(Conversion(maximumSide: 48))] }) { stage in
      stage.origin.serve("/foreign", Sample.fixture("photo.webp"))
      stage.origin.serve("/acceptable", Sample.fixture("photo.jpg"))
      for _ in 0..<2 {
        #expect(await stage.fetch("/foreign", within: .seconds(1)).reason == reason)
      }
      let end = await stage.fetch("/acceptable", within: .seconds(1))
      let file = try #require(end.file)
      #expect(file.sha256 == Sample.sha256(Sample.fixture("photo.jpg")))
      #expect(end.record.converted == nil)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `it opens no file and no socket, and starts no process`() async throws {
    try await withFetchStage(converter: .escape, configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      // It dies if one of them succeeds.
      let explanation = try #require(await stage.fetch("/a").record.explanation)
      #expect(explanation.contains("(it did not escape)"), "this kernel has no seccomp: \(explanation)")
    }
  }

  @Test func `it ends by its own timer, since its parent may not be able to end it`() throws {
    try ConverterLibrary.load()
    let folder = AttachmentStoreTestFolder()
    let file = try folder.store().beginFile()
    try file.append(Sample.fixture("photo-vast.webp"))
    let input = try file.openToRead()
    defer { close(input) }
    let process = try ConverterProcess(ConverterProcess.start)
    let picture = SourcePicture(file: file, format: .webp)
    #expect(process.send(picture, input, Conversion(), MediaLimits(), within: .milliseconds(50)))
    var end = pollfd(fd: process.socket, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&end, 1, 30_000) == 1)
    guard case .failed(let failure) = process.receive(Conversion(), MediaLimits()) else {
      Issue.record("it has not ended")
      return
    }
    #expect(failure.reason == .convertDeadline)
  }

  @Test func `pictures that wait for a converter that hangs end in time, too`() async throws {
    try await withFetchStage(converter: .wait, configure: { ($0.steps, $0.fetchers) = ([.convert(Conversion())], 1) }) { stage in
      // The same bytes are converted once.
      for number in 0..<5 { stage.origin.serve("/\(number)", Sample.padded(Sample.fixture("photo.webp"), to: 300 + number)) }
      let fetches = (0..<5).map { stage.begin("/\($0)", within: .seconds(3)) }
      var messages: [String] = []
      for fetch in fetches {
        let end = await fetch.end
        #expect(end.reason == .convertDeadline)
        messages.append(end.record.explanation ?? "")
      }
      #expect(messages.contains { $0.contains("other pictures waiting or being converted; raise --deadline or --fetchers") }, "\(messages)")
      #expect(await stage.isAtRest())
    }
  }

  @Test func `what cannot be finished in time is given up at once, and not the others`() async throws {
    try await withFetchStage(converter: .wait, configure: { ($0.steps, $0.fetchers) = ([.convert(Conversion())], 1) }) { stage in
      // Before the speed is known, a third of a second is surely needed for each.
      for number in 0..<40 { stage.origin.serve("/\(number)", PictureHeaderTests.vast.dropLast() + [UInt8(number)]) }
      let fetches = (0..<40).map { stage.begin("/\($0)", within: .seconds(3)) }
      var givenUp = 0
      for fetch in fetches {
        let end = await fetch.end
        #expect(end.reason == .convertDeadline)
        if let total = end.record.timing.total, total < .seconds(2) {
          let explanation = try #require(end.record.explanation)
          #expect(explanation.contains("a picture of 81 megapixels needs at least 0.3 s of a converter, after "), "\(explanation)")
          givenUp += 1
        }
      }
      #expect((30..<40).contains(givenUp), "\(givenUp)")
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a picture without time is not begun`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo-vast.webp"))
      let end = await stage.fetch("/a", within: .milliseconds(400))
      #expect(end.reason == .convertDeadline)
      let explanation = try #require(end.record.explanation)
      #expect(explanation.contains("a picture of 121 megapixels needs at least 0.5 s of a converter, and 0."), "\(explanation)")
      #expect(explanation.contains("raise --deadline"))
      #expect(await stage.isAtRest())
    }
  }
}
