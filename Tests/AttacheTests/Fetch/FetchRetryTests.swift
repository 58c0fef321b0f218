import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchRetryTests {
  @Test func `two resets and then a file take three attempts`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.times(2, .resetBeforeHeaders)])
      let fetched = await stage.fetch("/a")
      #expect(fetched.file?.sha256 == Sample.sha256(Sample.png))
      #expect(fetched.record.attempts == 3)
      #expect(fetched.record.status == 200)
    }
  }

  @Test func `as many further tries are made as are allowed`() async throws {
    for retries in [0, 1] {
      try await withFetchStage {
        $0.retries = retries
      } _: { stage in
        stage.origin.serve("/a", Sample.png, faults: [.status(504)])
        let fetched = await stage.fetch("/a")
        #expect(fetched.reason == .httpStatus)
        #expect(fetched.record.attempts == retries + 1)
        #expect(stage.origin.requestCount(path: "/a") == retries + 1)
      }
    }
  }

  @Test(.tags(.realTime)) func `503 is tried again when its Retry-After has passed, within the budget`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.once(.status(503, retryAfter: 1))])
      let fetched = await stage.fetch("/a")
      #expect(fetched.file != nil)
      #expect(fetched.record.attempts == 2)
      let arrivals = stage.origin.requests.map(\.arrival)
      #expect(arrivals.count == 2 && arrivals[0].duration(to: arrivals[1]) >= .seconds(1))
    }
  }

  @Test func `503 whose Retry-After lies beyond the budget fails at once`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.status(503, retryAfter: 3_600)])
      let fetched = await stage.fetch("/a", within: .seconds(3_000))
      #expect(fetched.reason == .httpStatus)
      #expect(fetched.record.status == 503)
      #expect(stage.origin.requestCount() == 1)
    }
  }

  @Test func `an origin that is not there is tried again and reported as such`() async throws {
    try await withFetchStage { stage in
      let gone = try await FaultOrigin.start()
      await gone.stop()
      let fetched = await stage.fetch(gone.url("/a"))
      #expect(fetched.reason == .connectRefused)
      #expect(fetched.record.attempts == 3)
    }
  }

  @Test func `a further try that is waited for is given up with its last waiter`() async throws {
    try await withFetchStage { configuration in
      configuration.transfersPerOrigin = 1
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.status(503, retryAfter: 10)])
      stage.origin.serve("/b", Sample.png)
      let running = stage.begin("/a")
      await stage.origin.waitForRequests(count: 1, path: "/a")
      #expect(await stage.fetch("/b").file != nil, "who waits for a further try holds no place")
      running.cancel()
      await stage.settle()
      #expect(stage.origin.requestCount(path: "/a") == 1)
    }
  }
}
