import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(2))) struct FetchBreakerTests {
  @Test func `10,000 payloads to one origin that is well are all attached`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png)
      let run = try await stage.filter((0..<10_000).map { FilterRun.line("\(stage.origin.url("/a"))?\($0)") })
      #expect(run.records.count { $0.outcome == "attached" } == 10_000)
      #expect(stage.origin.connectionCount == 16)
    }
  }

  @Test func `whom an open circuit refuses asks no name server and opens no connection, whichever fetcher is asked`() async throws {
    let dns = try await StubDNS(["down.example": .addresses([.v4(0x7F00_0001)])])
    try await withFetchStage(dns: dns) {
      $0.fetchers = 4
    } _: { stage in
      let url = stage.origin.url("/a", host: "down.example")
      try stage.fail(url, times: 10)
      for number in 0..<8 {
        let refused = await stage.fetch("\(url)?\(number)")
        #expect(refused.reason == .policyBreaker)
        #expect(refused.record.explanation?.contains("has failed for 20 s, in 10 requests in a row") == true)
        #expect(refused.record.retryAfter.map { $0 > .zero && $0 <= .seconds(number + 1) } == true)
        #expect(refused.record.attempts == 0)
        #expect(refused.record.timing.dns == nil)
        #expect(refused.record.timing.connect == nil)
      }
      #expect(stage.origin.connectionCount == 0)
      #expect(await stage.states.open == 1)
    }
    #expect(dns.queries.isEmpty)
    await dns.stop()
  }

  @Test func `a file that this run has fetched is handed out while its origin is left alone`() async throws {
    let nobody = try LoopbackSocket()
    try await withFetchStage(trust: .zero) {
      $0.cache = .session
    } _: { stage in
      stage.origin.serve("/a", Sample.png)
      let file = try #require(await stage.fetch("/a").file)
      let url = "http://127.0.0.1:\(nobody.port)/"
      stage.fetcher.memory.keep(file, for: url + "a")
      try stage.fail(url + "a", times: 10)
      #expect(await stage.fetch(url + "a").file == file)
      #expect(await stage.fetch(url + "a?1").reason == .policyBreaker)
      stage.folder.remove(file.relativePath)
      #expect(await stage.fetch(url + "a").reason == .policyBreaker, "the file is gone")
    }
    withExtendedLifetime(nobody) {}
  }

  @Test(arguments: [
    (Fault.status(502), true), (.status(503), true), (.status(504), true), (.resetBeforeHeaders, true), (.reset(afterBytes: 20), true),
    (.status(200), false), (.status(403), false), (.status(404), false), (.status(429), false), (.status(500), false),
    (.status(501), false),
    (.gzip, false),
  ])
  func `what counts as a failure opens the circuit, and every other answer closes it`(_ fault: Fault, _ isFailure: Bool) async throws {
    try await withFetchStage {
      $0.retries = 1
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [fault])
      try stage.fail(stage.origin.url("/a"), times: 9)
      _ = await stage.fetch("/a")
      #expect(try stage.failures(of: "/a") == (isFailure ? 10 : 0), "two attempts are one request")
      #expect(await stage.states.open == (isFailure ? 1 : 0))
    }
  }

  @Test func `a connection that is refused is a failure of every path`() async throws {
    let nobody = try LoopbackSocket()
    try await withFetchStage {
      $0.retries = 0
    } _: { stage in
      let url = "http://127.0.0.1:\(nobody.port)/"
      try stage.fail(url + "a", times: 9)
      #expect(await stage.fetch(url + "b").reason == .connectRefused)
      #expect(await stage.fetch(url + "c").reason == .policyBreaker)
    }
    withExtendedLifetime(nobody) {}
  }

  @Test func `an origin that redirects has answered, whatever happens at the target`() async throws {
    try await withFetchStage {
      $0.retries = 0
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.redirect(to: stage.origin.url("/b"))])
      stage.origin.serve("/b", Sample.png, faults: [.status(502)])
      try stage.fail(stage.origin.url("/a"), times: 9)
      #expect(await stage.fetch("/a").reason == .httpStatus)
      #expect(try stage.failures(of: "/a") == 0)
    }
  }

  @Test(
    .tags(.realTime), arguments: [(Fault.stallBeforeHeaders, 300, 8), (.stallBeforeHeaders, 1_300, 9), (.stall(afterBytes: 20), 300, 0)])
  func `an origin that hangs fails once it had a second, and one that sends slowly lives`(
    _ fault: Fault, _ milliseconds: Int, _ failures: Int
  ) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [fault])
      try stage.fail(stage.origin.url("/a"), times: 8)
      #expect(await stage.fetch("/a", within: .milliseconds(milliseconds)).reason == .deadline)
      await stage.settle()
      #expect(try stage.failures(of: "/a") == failures)
    }
  }

  @Test(.tags(.realTime)) func `a request that waited for a place alone shows nothing`() async throws {
    try await withFetchStage {
      ($0.fetchers, $0.transfersPerOrigin) = (1, 1)
    } _: { stage in
      stage.origin.serve("/a", Sample.png, faults: [.stallBeforeHeaders])
      try stage.fail(stage.origin.url("/a"), times: 5)
      let running = (0..<40).map { stage.begin("/a?\($0)", within: .milliseconds(1_300)) }
      for fetch in running { #expect(await fetch.end.reason == .deadline) }
      await stage.settle()
      // One is set aside after half a second, another one after a second, and so on.
      let failures = try stage.failures(of: "/a")
      #expect(failures > 5 && failures <= 8, "\(failures)")
    }
  }
}

extension FetchStage {
  /// Makes requests for a URL fail, each after 20 seconds.
  func fail(_ url: String, times: Int) throws {
    let url = try fetcher.memory.check(UntrustedText(url))
    let health = OriginHealth(.silence, since: .now.advanced(by: .seconds(-20)))
    for _ in 0..<times { fetcher.memory.note(health, of: url) }
  }

  /// The number of failures in a row of the origin, after as many more that the circuit is open.
  fileprivate func failures(of path: String) throws -> Int {
    let url = try fetcher.memory.check(UntrustedText(origin.url(path)))
    let health = OriginHealth(.silence, since: .now.advanced(by: .seconds(-20)))
    for added in 0..<100 {
      if let message = fetcher.memory.refusal(of: url)?.message, let start = message.firstRange(of: ", in ")?.upperBound {
        return (Int(message[start...].prefix { $0.isNumber }) ?? 0) - added
      }
      fetcher.memory.note(health, of: url)
    }
    return 0
  }

  var states: BreakerStates {
    get async {
      await withCheckedContinuation { continuation in fetcher.pulse { continuation.resume(returning: $0) } }
    }
  }
}
