import Attache
import AttacheTesting
import Foundation
import Testing

/// What attache may contact: only public addresses, unless a flag allows more.
@Suite(.timeLimit(.minutes(1)))
struct PolicyFlagTests {
  /// The reason for one payload, and the text of standard error.
  private func outcome(of url: String, _ flags: [String]) async throws -> (reason: String?, errors: String) {
    let line = Sample.payload(url)
    let (run, records) = try await AttacheTool().reported(flags, input: line)
    #expect(run.exit == .status(0))
    let record = try #require(records.first)
    #expect((record.outcome == "attached") == (record.reason == nil))
    if record.outcome != "attached" { #expect(run.text == line) }
    return (record.reason, run.errors)
  }

  @Test func `plain http is refused before any connection`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let (reason, errors) = try await outcome(of: origin.url("/a"), ["--allow-net", "127.0.0.0/8"])
      #expect(reason == "policy.scheme")
      #expect(errors.contains("--allow-http"))
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `an address that is not public is refused before any connection, and the message names the flag`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let (reason, errors) = try await outcome(of: origin.url("/a"), ["--allow-http", "--allow-port", "\(origin.port)"])
      #expect(reason == "policy.address")
      #expect(errors.contains("--allow-net"))
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `cloud metadata stays shut whatever is allowed`() async throws {
    let (reason, _) = try await outcome(of: "http://169.254.169.254/a", ["--allow-http", "--allow-net", "0.0.0.0/0"])
    #expect(reason == "policy.address")
  }

  @Test func `a port must be allowed by its number or its range`() async throws {
    let dns = try await StubDNS()
    let flags = ["--dns-server", dns.address]
    #expect(try await outcome(of: "https://cdn.example:8443/a", flags).reason == "policy.port")
    #expect(try await outcome(of: "https://cdn.example:8443/a", flags + ["--allow-port", "8443"]).reason == "dns.notfound")
    #expect(try await outcome(of: "https://cdn.example:8443/a", flags + ["--allow-port", "8000-9000"]).reason == "dns.notfound")
    #expect(try await outcome(of: "https://cdn.example:443/a", flags).reason == "dns.notfound")
    await dns.stop()
  }

  @Test func `only allowed hosts are looked up, and a denied one never is`() async throws {
    let dns = try await StubDNS()
    let flags = ["--dns-server", dns.address, "--allow-host", "*.cdn.example", "--deny-host", "bad.cdn.example"]
    #expect(try await outcome(of: "https://other.example/a", flags).reason == "policy.host")
    #expect(try await outcome(of: "https://bad.cdn.example/a", flags).reason == "policy.host")
    #expect(dns.queries.isEmpty)
    #expect(try await outcome(of: "https://good.cdn.example/a", flags).reason == "dns.notfound")
    await dns.stop()
  }

  @Test func `names are asked of the server that the flag names, and their addresses pass the gate`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let loopback = try #require(IPAddress("127.0.0.1"))
      let dns = try await StubDNS(["cdn.example": .addresses([loopback])])
      let url = origin.url("/a", host: "cdn.example")
      let allowed = try await outcome(of: url, AttacheTool.loopback + ["--allow-port", "\(origin.port)", "--dns-server", dns.address])
      #expect(allowed.reason == nil)
      let refused = try await outcome(of: url, ["--allow-http", "--allow-port", "\(origin.port)", "--dns-server", dns.address])
      #expect(refused.reason == "policy.address")
      #expect(origin.requestCount() == 1)
      await dns.stop()
    }
  }

  @Test func `a certificate counts when its root is given, and never otherwise`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let root = try #require(origin.rootCertificatePEMFile)
      #expect(try await outcome(of: origin.url("/a"), ["--allow-net", "127.0.0.0/8"]).reason == "tls.certificate")
      #expect(origin.requestCount() == 0)
      #expect(try await outcome(of: origin.url("/a"), ["--allow-net", "127.0.0.0/8", "--cacert", root]).reason == nil)
    }
  }

  @Test func `a proxy in the environment changes nothing`() async throws {
    try await withOrigin { origin in
      let canary = try await FaultOrigin.start()
      origin.serve("/a", try Sample.medium("picture.png"))
      let run = try await AttacheTool().run(AttacheTool.loopback, input: Sample.payload(origin.url("/a"))) { launch in
        for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
          launch.environment[name] = canary.url("")
        }
      }
      #expect(Enriched.attachments(run.text).count == 1)
      #expect(canary.connectionCount == 0)
      await canary.stop()
    }
  }
}
