import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(2))) struct FetchBreakerTests {
  /// The results of this many payloads that name media at one origin.
  private func run(_ count: Int, naming place: String, on stage: FetchStage) async throws -> FilterRun {
    try await stage.filter((0..<count).map { FilterRun.line("\(place)?\($0)") })
  }

  @Test func `10,000 payloads to one origin that is down leave as they came, and few try`() async throws {
    let nobody = try LoopbackSocket()
    try await withFetchStage { stage in
      let run = try await run(10_000, naming: "http://127.0.0.1:\(nobody.port)/a", on: stage)
      #expect(run.output == run.input)
      #expect(Set(run.records.map(\.reason)) == ["connect.refused", "policy.breaker"])
      #expect(run.late.isEmpty)
      let attempts = run.records.flatMap(\.media).map(\.attempts).reduce(0, +)
      #expect(attempts < 1_000, "each of them would have tried three times")
    }
    withExtendedLifetime(nobody) {}
  }

  @Test func `10,000 payloads to one origin that is well are all attached`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png)
      let run = try await run(10_000, naming: stage.origin.url("/a"), on: stage)
      #expect(run.records.count { $0.outcome == "attached" } == 10_000)
      #expect(stage.origin.connectionCount == 16)
    }
  }

  @Test func `an origin that fails for some paths alone is asked for the others`() async throws {
    try await withFetchStage { configuration in
      configuration.retries = 0
    } _: { stage in
      stage.origin.serve("/bad", Sample.png, faults: [.resetBeforeHeaders])
      stage.origin.serve("/good", Sample.png)
      let lines = (0..<20).map { FilterRun.line(stage.origin.url("/bad?\($0)")) } + [FilterRun.line(stage.origin.url("/good"))]
      let run = try await stage.filter(lines)
      #expect(run.records.last?.outcome == "attached")
    }
  }

  @Test func `who is refused by an open circuit asks no name server and opens no connection`() async throws {
    let nobody = try LoopbackSocket()
    let dns = try await StubDNS(["down.example": .addresses([.v4(0x7F00_0001)])])
    try await withFetchStage(dns: dns) { configuration in
      configuration.retries = 0
    } _: { stage in
      for number in 0..<10 {
        #expect(await stage.fetch("http://down.example:\(nobody.port)/\(number)").reason == .connectRefused)
      }
      let refused = await stage.fetch("http://down.example:\(nobody.port)/a")
      #expect(refused.reason == .policyBreaker)
      #expect(refused.record.attempts == 0)
      #expect(refused.record.timing.dns == nil)
      #expect(refused.record.timing.connect == nil)
    }
    await dns.stop()
    withExtendedLifetime(nobody) {}
  }

  @Test func `a further try that meets an open circuit ends with what the fetch had`() async throws {
    let nobody = try LoopbackSocket()
    // Each fetcher counts separately: with two, too few fail at the first attempt to open a
    // circuit.
    try await withFetchStage {
      $0.fetchers = 1
    } _: { stage in
      let running = (0..<16).map { stage.begin("http://127.0.0.1:\(nobody.port)/\($0)") }
      for fetch in running {
        let fetched = await fetch.end
        #expect(fetched.reason == .connectRefused)
        #expect(fetched.record.attempts < 3)
      }
    }
    withExtendedLifetime(nobody) {}
  }
}
