import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchRetryTests {

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

  @Test func `a further try that is waited for is given up with its last waiter`() async throws {
    try await withFetchStage { configuration in
      configuration.transfersPerOrigin = 1
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.status(503, retryAfter: 10)])
      stage.origin.serve("/b", Sample.png)
      let running = stage.begin("/a")
      await stage.origin.waitForRequests(count: 1, path: "/a")
      #expect(await stage.fetch("/b").file != nil, "a fetch that waits for a retry holds no connection")
      running.cancel()
      await stage.settle()
      #expect(stage.origin.requestCount(path: "/a") == 1)
    }
  }
}
