import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// The same bytes are converted once.
@Suite(.timeLimit(.minutes(2))) struct ConversionSharingTests {
  /// A converter that must not be asked: each picture crashes it.
  private static func withNoConverter(
    folder: AttachmentStoreTestFolder, cache: FetchConfiguration.CacheMode = .http, _ body: (FetchStage) async throws -> Void
  ) async throws {
    try await withFetchStage(
      folder: folder, converter: .crash, configure: { ($0.steps, $0.cache) = ([.convert(Conversion())], cache) }
    ) {
      try await body($0)
    }
  }

  @Test func `a later run finds what became of the same bytes under another URL`() async throws {
    let folder = AttachmentStoreTestFolder()
    try await withFetchStage(folder: folder, configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      #expect(await stage.fetch("/a").file != nil)
      #expect(await stage.isAtRest())
    }
    try await Self.withNoConverter(folder: folder) { stage in
      stage.origin.serve("/signed", Sample.fixture("photo.webp"))
      stage.origin.serve("/other", Sample.fixture("photo-lossless.webp"))
      let end = await stage.fetch("/signed?signature=1")
      #expect(end.file?.type == .jpeg)
      #expect(end.record.converted?.from == .webp)
      #expect(end.record.converted?.width == 96)
      #expect(await stage.fetch("/other").reason == .convertFailed, "a picture that is converted crashes its converter")
      #expect(await stage.isAtRest())
    }
  }

  @Test func `another fetcher of the run finds it at once`() async throws {
    let folder = AttachmentStoreTestFolder()
    try await withFetchStage(folder: folder, configure: { $0.steps = [.convert(Conversion())] }) { first in
      first.origin.serve("/a", Sample.fixture("photo.webp"))
      #expect(await first.fetch("/a").file != nil)
      // The first has not ended, nor waited for other rows to write.
      try await Self.withNoConverter(folder: folder) { second in
        second.origin.serve("/b", Sample.fixture("photo.webp"))
        #expect(await second.fetch("/b").file?.type == .jpeg)
      }
    }
  }

  @Test func `other steps, and a converted file that is gone, need a new conversion`() async throws {
    let folder = AttachmentStoreTestFolder()
    try await withFetchStage(folder: folder, configure: { $0.steps = [.convert(Conversion(maximumSide: 48))] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      #expect(await stage.fetch("/a").file != nil)
    }
    try await Self.withNoConverter(folder: folder) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      #expect(await stage.fetch("/a").reason == .convertFailed)
    }
    try await withFetchStage(folder: folder, configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      let file = try #require(await stage.fetch("/a").file)
      try FileManager.default.removeItem(atPath: stage.folder.path + "/" + file.relativePath)
      stage.origin.serve("/b", Sample.fixture("photo.webp"))
      #expect(await stage.fetch("/b").file == file)
    }
  }

  @Test(arguments: FetchConfiguration.CacheMode.allCases)
  func `thirty URLs with the same bytes are converted once, whatever is cached`(cache: FetchConfiguration.CacheMode) async throws {
    try await withFetchStage(configure: { ($0.steps, $0.cache, $0.fetchers) = ([.convert(Conversion())], cache, 1) }) { stage in
      let bytes = Sample.fixture("photo-vast.webp")
      let fetches = (0..<30).map { number in
        stage.origin.serve("/\(number)", bytes)
        return stage.begin("/\(number)")
      }
      var files: Set<StoredFile> = []
      for fetch in fetches { files.insert(try #require(await fetch.end.file)) }
      #expect(files.count == 1)
      let before = Self.processorTimeOfChildren(of: stage)
      for number in 30..<60 {
        stage.origin.serve("/\(number)", bytes)
        #expect(await stage.fetch("/\(number)").file == files.first)
      }
      // One conversion takes more, and what the last one did is counted late.
      #expect(Self.processorTimeOfChildren(of: stage) < before + 5)
      #expect(await stage.isAtRest())
    }
  }

  /// The processor time of the converters, in hundredths of a second.
  private static func processorTimeOfChildren(of stage: FetchStage) -> Int {
    let children = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return children.compactMap { Int($0) }.reduce(0) { sum, child in
      guard let status = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8), status.contains("(converter)"),
        let fields = status.split(separator: ")").last?.split(separator: " "), fields.count > 11, fields[1] == "\(getpid())"
      else { return sum }
      return sum + (Int(fields[11]) ?? 0)
    }
  }

  @Test func `whoever waits for the same bytes may leave or be late without harm to the others`() async throws {
    try await withFetchStage(configure: { ($0.steps, $0.fetchers) = ([.convert(Conversion())], 1) }) { stage in
      for number in 0..<4 { stage.origin.serve("/\(number)", Sample.fixture("photo-vast.webp")) }
      let first = stage.begin("/0")
      let hasty = stage.begin("/1", within: .milliseconds(250))
      let second = stage.begin("/2")
      let third = stage.begin("/3")
      first.cancel()
      #expect(await hasty.end.file == nil)
      let file = try #require(await second.end.file)
      #expect(await third.end.file == file)
      #expect(await stage.isAtRest())
    }
  }
}
