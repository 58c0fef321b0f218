import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchSessionTests {
  @Test func `what was fetched is not fetched again`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png)
      let first = await stage.fetch("/a")
      let second = await stage.fetch("/a")
      #expect(first.file != nil && second.file == first.file)
      #expect(second.record.cache == .hit)
      #expect(second.record.attempts == 0)
      #expect(second.record.bytes == first.file?.size)
      #expect(stage.origin.requestCount() == 1)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `what is found again after a while is a hit`() async throws {
    try await withFetchStage(trust: .zero) { stage in
      stage.origin.serve("/a", Sample.png)
      _ = await stage.fetch("/a")
      #expect(await stage.fetch("/a").record.cache == .hit)
      #expect(stage.origin.requestCount() == 1)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a file that is gone from the store is fetched again`() async throws {
    try await withFetchStage(trust: .zero) { stage in
      stage.origin.serve("/a", Sample.png)
      let file = try #require(await stage.fetch("/a").file)
      stage.folder.remove(file.relativePath)
      let again = await stage.fetch("/a")
      #expect(again.file == file)
      #expect(again.record.cache == .miss)
      #expect(stage.files == [file.relativePath])
      #expect(stage.origin.requestCount() == 2)
    }
  }

  @Test func `who gives up in the turn of the beginning keeps no place`() async throws {
    try await withFetchStage(trust: .zero) {
      ($0.transfersPerOrigin, $0.fetchers) = (1, 1)
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.after(1, .stallBeforeHeaders)])
      for path in ["/b", "/c"] { stage.origin.serve(path, Sample.mp3) }
      let file = try #require(await stage.fetch("/a").file)
      stage.folder.remove(file.relativePath)
      let (held, goOn) = (AsyncStream<Void>.makeStream(), HeldThread())
      let loop = stage.fetcher.engines[0].loop
      loop.post {
        held.continuation.finish()
        goOn.wait()
      }
      for await _ in held.stream {}
      // The loop handles both in one turn.
      let early = stage.begin("/a")
      loop.post { early.cancel() }
      goOn.signal()
      // The second would wait for a connection that no fetch uses.
      #expect(await stage.fetch("/b").file != nil)
      #expect(await stage.fetch("/c", within: .seconds(5)).file != nil)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a failure is not remembered`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.once(.status(404))])
      #expect(await stage.fetch("/a").reason == .httpStatus)
      #expect(await stage.fetch("/a").file != nil)
    }
  }

  @Test func `the caller gets its file pinned once`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png)
      for _ in 0..<2 {
        let (files, continuation) = AsyncStream<Attache.StoredFile>.makeStream()
        _ = stage.fetcher.fetch(stage.origin.url("/a"), deadline: .now.advanced(by: .seconds(20))) { result, _ in
          if case .success(let file) = result { continuation.yield(file) }
          continuation.finish()
        }
        for await file in files {
          await stage.settle()
          #expect(stage.pinned == [file.relativePath])
          stage.store.unpin(file)
          #expect(stage.pinned.isEmpty)
        }
      }
    }
  }
}
