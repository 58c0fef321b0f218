import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchConnectionTests {
  @Test(arguments: [FaultOrigin.TLS.none, .selfMade()])
  func `50 fetches one after the other take one connection`(_ tls: FaultOrigin.TLS) async throws {
    try await withFetchStage(tls: tls, http2: false) { stage in
      for number in 0..<50 {
        stage.origin.serve("/\(number)", Sample.png)
        #expect(await stage.fetch("/\(number)").file != nil)
      }
      #expect(stage.origin.connectionCount == 1)
      #expect(stage.origin.requestCount() == 50)
    }
  }

  @Test func `an answer without a body leaves its connection for the next`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.redirect(to: "/b", status: 302)])
      stage.origin.serve("/b", Sample.png)
      #expect(await stage.fetch("/a").file != nil)
      #expect(stage.origin.connectionCount == 1)
    }
  }

  @Test func `the long page of a 404 is not read, and its connection is given up`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", [UInt8](repeating: 0x20, count: 10_000_000), faults: [.status(404), .stall(afterBytes: 100)])
      let fetched = await stage.fetch("/a")
      #expect(fetched.reason == .httpStatus)
      #expect(fetched.record.bytes == 0)
      await stage.origin.waitForConnections(closed: 1)
    }
  }

  @Test func `an origin gets as many requests at a time as it may, and holds up no other`() async throws {
    let other = try await FaultOrigin.start()
    other.serve("/a", Sample.png)
    try await withFetchStage {
      $0.transfersPerOrigin = 4
    } _: { stage in
      for number in 0..<40 { stage.origin.serve("/\(number)", Sample.png, faults: [.stallBeforeHeaders]) }
      let running = (0..<40).map { stage.begin("/\($0)") }
      await stage.origin.waitForRequests(count: 4)
      #expect(await stage.fetch(other.url("/a")).file != nil)
      #expect(stage.origin.requestCount() == 4)
      #expect(stage.origin.connectionCount == 4)
      for number in 0..<40 { stage.origin.release("/\(number)") }
      for fetch in running { #expect(await fetch.end.file != nil) }
      #expect(stage.origin.requestCount() == 40)
      #expect(stage.origin.connectionCount == 4)
    }
    await other.stop()
  }

  @Test func `who gives up while it waits for a place is never asked for`() async throws {
    try await withFetchStage {
      $0.transfersPerOrigin = 1
    } _: { stage in
      stage.origin.serve("/first", Sample.png, faults: [.stallBeforeHeaders])
      for path in ["/second", "/third"] { stage.origin.serve(path, Sample.png) }
      let first = stage.begin("/first")
      await stage.origin.waitForRequests(count: 1)
      let (second, third) = (stage.begin("/second"), stage.begin("/third"))
      second.cancel()
      await stage.settle()
      stage.origin.release("/first")
      #expect(await first.end.file != nil)
      #expect(await third.end.file != nil)
      #expect(stage.origin.requestCount(path: "/second") == 0)
    }
  }

  @Test func `whoever gives up a transfer leaves its place to the next`() async throws {
    try await withFetchStage {
      $0.transfersPerOrigin = 1
    } _: { stage in
      for number in 0..<10 { stage.origin.serve("/\(number)", Sample.png, faults: [.stallBeforeHeaders]) }
      stage.origin.serve("/last", Sample.png)
      for number in 0..<10 {
        let stalled = stage.begin("/\(number)")
        await stage.origin.waitForRequests(count: 1, path: "/\(number)")
        stalled.cancel()
      }
      #expect(await stage.fetch("/last").file != nil)
    }
  }

  @Test func `a fetcher that is shut down calls nobody and closes its connections`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stall(afterBytes: 20)])
      let running = stage.begin("/a")
      await stage.origin.waitForStalls(count: 1, path: "/a")
      stage.fetcher.shutdown()
      await stage.origin.waitForConnections(closed: 1)
      running.cancel()
      #expect(await running.end.reason == .cancelled)
      #expect(stage.unfinished.isEmpty)
    }
  }

  @Test func `a fetcher that is let go of is shut down`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stall(afterBytes: 20)])
      var configuration = FetchConfiguration()
      configuration.policy = URLPolicy(allowHTTP: true, allowedNets: [try CIDR("127.0.0.1")])
      var fetcher: MediaFetcher? = try MediaFetcher(
        configuration, store: stage.store, network: TransferWatch.watching(.real(configuration)))
      _ = fetcher?.fetch(stage.origin.url("/a"), deadline: .now.advanced(by: .seconds(20))) { _, _ in
        Issue.record("the callback must not run")
      }
      await stage.origin.waitForStalls(count: 1, path: "/a")
      weak let engine = fetcher?.engines.first
      weak let memory = fetcher?.memory
      fetcher = nil
      await stage.origin.waitForConnections(closed: 1)
      let end = ContinuousClock.now.advanced(by: .seconds(10))
      while engine != nil || memory != nil {
        try #require(ContinuousClock.now < end, "what was in flight holds the fetcher")
        await Task.yield()
      }
    }
  }

  @Test func `news that comes in the very turn of the shutdown is not read`() async throws {
    try await withFetchStage {
      $0.fetchers = 1
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stallBeforeHeaders])
      let running = stage.begin("/a")
      await stage.origin.waitForRequests(count: 1)
      let (held, goOn) = (AsyncStream<Void>.makeStream(), HeldThread())
      stage.fetcher.engines[0].loop.post {
        held.continuation.finish()
        goOn.wait()
      }
      for await _ in held.stream {}
      stage.origin.release("/a")
      // The response is in the socket before the loop sees both events at once.
      while stage.origin.sentBodyBytes(path: "/a") == 0, !Task.isCancelled { await Task.yield() }
      stage.fetcher.shutdown()
      goOn.signal()
      await stage.origin.waitForConnections(closed: 1)
      #expect(running.ticket.waiter.isOpen, "the waiter has no answer")
    }
  }
}
