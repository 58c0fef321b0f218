import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchJoiningTests {
  /// Lets 100 fetches wait for one URL whose body has stalled.
  private func withHundred(_ body: (FetchStage, [RunningFetch]) async throws -> Void) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.padded(Sample.png, to: 10_000), faults: [.stall(afterBytes: 6_000)])
      let first = stage.begin("/a")
      await stage.origin.waitForStalls(count: 1, path: "/a")
      try await body(stage, [first] + (1..<100).map { _ in stage.begin("/a") })
    }
  }

  @Test func `a hundred who want one URL share one request`() async throws {
    try await withHundred { stage, running in
      await stage.settle()
      stage.origin.release("/a")
      for (index, fetch) in running.enumerated() {
        let fetched = await fetch.end
        #expect(fetched.file?.size == 10_000)
        #expect(fetched.record.cache == (index == 0 ? .miss : .joined))
        #expect(fetched.record.bytes == 10_000)
        #expect(fetched.record.status == 200)
        #expect(fetched.record.type == .png)
      }
      #expect(stage.origin.requestCount() == 1)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `ninety-nine who give up leave the hundredth alone`() async throws {
    try await withHundred { stage, running in
      for fetch in running.dropLast() { fetch.cancel() }
      await stage.settle()
      stage.origin.release("/a")
      #expect(await running[99].end.file?.size == 10_000)
      #expect(await running[0].end.reason == .cancelled)
      #expect(stage.origin.requestCount() == 1)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `when all have given up the download is broken off`() async throws {
    try await withHundred { stage, running in
      for fetch in running { fetch.cancel() }
      await stage.origin.waitForConnections(closed: 1)
      #expect(stage.origin.openConnections == 0)
    }
  }

  @Test func `thousands who give up at once leave nothing behind`() async throws {
    try await withFetchStage {
      $0.transfersPerOrigin = 16
    } _: { stage in
      stage.origin.serve("/last", Sample.png)
      // A byte every 200 ms: a transfer without data would stop counting after 500 ms, and another
      // would start.
      for number in 0..<16 { stage.origin.serve("/\(number)", Sample.png, faults: [.drip(bytesPerSecond: 5)]) }
      let slow = (0..<16).map { stage.begin("/\($0)") }
      for number in 0..<16 { await stage.origin.waitForRequests(count: 1, path: "/\(number)") }
      // They wait for a connection, for the loop, or for the fetch that they joined. None of them
      // gets a connection.
      let waiting = (0..<4_000).map { stage.begin("/\($0)") }
      for fetch in waiting + slow { fetch.cancel() }
      #expect(await stage.fetch("/last").file != nil)
      await stage.settle()
      for engine in stage.fetcher.engines {
        let left = await withCheckedContinuation { continuation in engine.loop.post { continuation.resume(returning: engine.fetches.count) }
        }
        #expect(left == 0)
      }
      #expect(stage.origin.requestCount() == 17)
      #expect(await stage.isAtRest())
    }
  }

  @Test(.tags(.realTime)) func `who joins late has a deadline of its own`() async throws {
    try await withHundred { stage, running in
      let brief = stage.begin("/a", within: .milliseconds(100))
      let fetched = await brief.end
      #expect(fetched.reason == .deadline)
      #expect(fetched.record.bytes == 6_000)
      stage.origin.release("/a")
      #expect(await running[0].end.file?.size == 10_000)
    }
  }

  @Test func `a failure is everybody's`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stallBeforeHeaders, .status(404)])
      let running = (0..<10).map { _ in stage.begin("/a") }
      await stage.origin.waitForStalls(count: 1, path: "/a")
      await stage.settle()
      stage.origin.release("/a")
      for fetch in running { #expect(await fetch.end.reason == .httpStatus) }
      #expect(stage.origin.requestCount() == 1)
    }
  }

  @Test func `whoever comes after the last has given up begins anew`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.once(.stallBeforeHeaders)])
      let stalled = stage.begin("/a")
      await stage.origin.waitForStalls(count: 1, path: "/a")
      stalled.cancel()
      #expect(await stage.fetch("/a").file != nil)
      #expect(stage.origin.requestCount() == 2)
    }
  }

  @Test func `URLs that differ only in their fragment are one`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stallBeforeHeaders])
      let running = ["/a", "/a#top", "/a#end"].map { stage.begin($0) }
      await stage.origin.waitForStalls(count: 1, path: "/a")
      await stage.settle()
      stage.origin.release("/a")
      for fetch in running { #expect(await fetch.end.file != nil) }
      #expect(stage.origin.requestCount() == 1)
    }
  }
}
