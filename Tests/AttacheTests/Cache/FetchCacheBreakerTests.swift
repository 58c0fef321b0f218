import AttacheTesting
import Testing

@testable import Attache

/// What the cache answers while the circuit breaker refuses requests to an origin.
@Suite(.timeLimit(.minutes(1))) struct FetchCacheBreakerTests {
  private static let fresh = Fault.header(name: "Cache-Control", value: "max-age=100")

  @Test func `a fresh file of an earlier run is handed out while its origin is left alone`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [Self.fresh])
      let first = try await stage.fetch("/a")
      try await stage.run { run in
        try run.fail(stage.origin.url("/a"), times: 10)
        let miss = await run.fetch("/a?1")
        #expect(miss.reason == .policyBreaker)
        #expect(miss.record.explanation?.contains("has failed for 20 s, in 10 requests in a row") == true)
        #expect(miss.record.retryAfter.map { $0 > .zero && $0 <= .seconds(1) } == true)
        #expect(miss.record.attempts == 0 && miss.record.cache == .miss)
        #expect(miss.record.timing.dns == nil && miss.record.timing.connect == nil)
        // The second time the memory of the run has it.
        for _ in 0..<2 {
          let hit = await run.fetch("/a")
          #expect(hit.file == first.file)
          #expect(hit.record.cache == .hit && hit.record.attempts == 0)
        }
        #expect(await run.states.open == 1)
      }
      #expect(stage.origin.requestCount() == 1)
    }
  }

  @Test func `a file that is stale, gone or not to be cached is none while its origin is left alone`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [Self.fresh, .etag("\"v1\"")])
      let file = try #require(try await stage.fetch("/a").file)
      func expectRefusal(_ mode: FetchConfiguration.CacheMode) async throws {
        try await stage.run {
          $0.cache = mode
        } _: { run in
          try run.fail(stage.origin.url("/a"), times: 10)
          #expect(await run.fetch("/a").reason == .policyBreaker)
        }
      }
      try await expectRefusal(.off)
      try await expectRefusal(.session)
      stage.time.turn(by: .seconds(101))
      try await expectRefusal(.http)
      stage.time.turn(by: .seconds(-101))
      stage.folder.remove(file.relativePath)
      try await expectRefusal(.http)
      #expect(stage.origin.requestCount() == 1)
    }
  }

  @Test func `a file whose host must be looked up is none while its origin is left alone`() async throws {
    let dns = try await StubDNS(["cdn.example.test": .addresses([.v4(0x7F00_0001)])])
    try await withCacheStage(dns: dns) { stage in
      stage.origin.serve("/a", Sample.png, faults: [Self.fresh])
      let url = stage.origin.url("/a", host: "cdn.example.test")
      _ = try await stage.fetch(url)
      let queries = dns.queries.count
      try await stage.run { run in
        try run.fail(url, times: 10)
        #expect(await run.fetch(url).reason == .policyBreaker)
      }
      #expect(dns.queries.count == queries)
    }
    await dns.stop()
  }

  @Test func `a request that is refused and one that is let through do not join`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.padded(Sample.png, to: 10_000), faults: [.stall(afterBytes: 6_000)])
      try await stage.run { run in
        let url = stage.origin.url("/a")
        let first = run.begin("/a")
        await stage.origin.waitForStalls(count: 1, path: "/a")
        try run.fail(url, times: 10)
        #expect(await run.fetch("/a").reason == .policyBreaker)
        run.fetcher.memory.note(OriginHealth(.life), of: try run.fetcher.memory.check(UntrustedText(url)))
        let second = run.begin("/a")
        await run.settle()
        stage.origin.release("/a")
        #expect(await first.end.record.cache == .miss)
        #expect(await second.end.record.cache == .joined)
      }
      #expect(stage.origin.requestCount() == 1)
    }
  }
}
