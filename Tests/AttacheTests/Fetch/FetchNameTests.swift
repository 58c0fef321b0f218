import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchNameTests {
  private static let home = IPAddress.v4(0x7F00_0001)

  private func withNames(
    _ answers: [String: StubDNS.Answer], _ body: (FetchStage, StubDNS) async throws -> Void
  ) async throws {
    let dns = try await StubDNS(answers)
    try await withFetchStage(dns: dns) { stage in
      stage.origin.serve("/a", Sample.png)
      try await body(stage, dns)
    }
    await dns.stop()
  }

  @Test func `a name is looked up once, reached on any port of an allowed net, and told to the origin`() async throws {
    try await withNames(["cdn.example.test": .addresses([Self.home])]) { stage, dns in
      let url = stage.origin.url("/a", host: "CDN.Example.test")
      let fetched = await stage.fetch(url)
      #expect(fetched.file?.sha256 == Sample.sha256(Sample.png))
      #expect(fetched.record.url.string == url)
      #expect(fetched.record.timing.dns != nil)
      #expect(stage.origin.requests.map { $0.field("Host") } == ["cdn.example.test:\(stage.origin.port)"])
      #expect(dns.queries.map(\.question.name) == ["cdn.example.test", "cdn.example.test"])
      #expect(Set(dns.queries.map(\.question.type)) == [.a, .aaaa])
    }
  }

  @Test(arguments: ["1.0.0.127.in-addr.arpa", "1.0.0.127.IN-ADDR.ARPA.", "1.0.ip6.arpa", "nas.local", "x.onion", "ipv4only.arpa"])
  func `a name that no web server has is refused before a query, also as the target of a redirect`(_ name: String) async throws {
    try await withNames(["1.0.0.127.in-addr.arpa": .addresses([Self.home])]) { stage, dns in
      #expect(await stage.fetch(stage.origin.url("/a", host: name)).reason == .policyHost)
      stage.origin.serve("/away", Sample.png, faults: [.redirect(to: stage.origin.url("/a", host: name))])
      #expect(await stage.fetch("/away").reason == .policyRedirect)
      #expect(dns.queries.isEmpty)
    }
  }

  @Test func `names lead to their addresses each time, in more fetches than a cache of libcurl takes names`() async throws {
    let names = (0..<100).map { "name\($0).example.test" }
    try await withNames(Dictionary(uniqueKeysWithValues: names.map { ($0, .addresses([Self.home])) })) { stage, _ in
      for round in 0..<3 {
        stage.origin.serve("/\(round)", Sample.png)
        for name in names { #expect(await stage.fetch(stage.origin.url("/\(round)", host: name)).file != nil) }
      }
      #expect(3 * names.count > CurlNames.maximumCount)
    }
  }

  @Test func `a bad address of the other family refuses the name`() async throws {
    let answer = StubDNS.Answer.perFamily(v4: .addresses([Self.home]), v6: .addresses([.v6(1)]))
    try await withNames(["mixed.example.test": answer]) { stage, _ in
      #expect(await stage.fetch(stage.origin.url("/a", host: "mixed.example.test")).reason == .policyAddress)
    }
  }

  @Test func `names that answer with a failure have their reasons`() async throws {
    let answers: [String: StubDNS.Answer] = [
      "none.example.test": .noSuchName, "empty.example.test": .noData, "broken.example.test": .serverFailure, "shut.example.test": .refused,
    ]
    try await withNames(answers) { stage, _ in
      #expect(await stage.fetch("http://none.example.test/").reason == .dnsNotFound)
      #expect(await stage.fetch("http://empty.example.test/").reason == .dnsNotFound)
      #expect(await stage.fetch("http://broken.example.test/").reason == .dnsFailed)
      #expect(await stage.fetch("http://shut.example.test/").reason == .dnsFailed)
      #expect(await stage.fetch("http://none.example.test/").record.attempts == 0)
    }
  }

  @Test func `a redirect to another name is looked up as the first`() async throws {
    let answers = ["one.example.test": StubDNS.Answer.addresses([Self.home]), "two.example.test": .addresses([Self.home])]
    try await withNames(answers) { stage, dns in
      stage.origin.serve("/start", [], faults: [.redirect(to: stage.origin.url("/a", host: "two.example.test"))])
      #expect(await stage.fetch(stage.origin.url("/start", host: "one.example.test")).file != nil)
      #expect(dns.queries.map(\.question.name) == ["one.example.test", "one.example.test", "two.example.test", "two.example.test"])
      #expect(stage.origin.requests.compactMap { $0.field("Host") }.map { $0.prefix(3) } == ["one", "two"])
    }
  }

  @Test func `an address that does not answer is passed over for the next`() async throws {
    let gone = try await FaultOrigin.start()
    await gone.stop()
    let dns = try await StubDNS(["two.example.test": .addresses([.v4(0x7F00_0002), Self.home])])
    try await withFetchStage(nets: ["127.0.0.0/8"], dns: dns) { stage in
      stage.origin.serve("/a", Sample.png)
      let fetched = await stage.fetch(stage.origin.url("/a", host: "two.example.test"))
      #expect(fetched.file != nil)
      #expect(fetched.record.attempts == 1)
    }
    await dns.stop()
  }

  @Test func `a look-up that nobody waits for any more begins no transfer`() async throws {
    try await withNames(["slow.example.test": .silence]) { stage, dns in
      let running = stage.begin(stage.origin.url("/a", host: "slow.example.test"))
      await dns.waitForQueries(count: 2)
      running.cancel()
      await stage.settle()
      dns.release("slow.example.test", with: .addresses([Self.home]))
      #expect(await stage.fetch("/a").file != nil)
      #expect(stage.origin.requestCount() == 1)
    }
  }
}
