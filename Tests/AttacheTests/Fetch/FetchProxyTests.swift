import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchProxyTests {
  /// A stage whose fetcher uses a proxy. Its name server knows only the given names.
  private func withProxy(
    answer: Int? = nil, tls: FaultOrigin.TLS = .none, host: String = "127.0.0.1", names: [String: StubDNS.Answer] = [:],
    _ body: (FetchStage, TunnelProxy, StubDNS) async throws -> Void
  ) async throws {
    let proxy = try TunnelProxy(answer: answer)
    let dns = try await StubDNS(names)
    let way = try Proxy("http://\(host):\(proxy.port)")
    try await withFetchStage(tls: tls, nets: [], dns: dns) { configuration in
      configuration.policy.proxy = way
      configuration.policy.allowedPorts = [1...65_535]
      configuration.retries = 0
    } _: { stage in
      try await body(stage, proxy, dns)
    }
    await dns.stop()
    proxy.stop()
  }

  @Test func `https goes through the proxy with CONNECT, and its certificate is still verified`() async throws {
    try await withProxy(tls: .selfMade(names: ["right.example.test"])) { stage, proxy, dns in
      stage.origin.serve("/a", Sample.png)
      let fetched = await stage.fetch(stage.origin.url("/a", host: "right.example.test"))
      #expect(fetched.file?.sha256 == Sample.sha256(Sample.png))
      #expect(await stage.fetch(stage.origin.url("/a", host: "wrong.example.test")).reason == .tlsHost)
      let port = stage.origin.port
      #expect(
        proxy.requests == ["CONNECT right.example.test:\(port) HTTP/1.1", "CONNECT wrong.example.test:\(port) HTTP/1.1"])
      #expect(dns.queries.isEmpty, "the proxy looks up names")
    }
  }

  @Test func `http goes through the proxy with the whole URL`() async throws {
    try await withProxy { stage, proxy, dns in
      stage.origin.serve("/a", Sample.png)
      let url = stage.origin.url("/a?b", host: "photo.example.test")
      #expect(await stage.fetch(url).file?.sha256 == Sample.sha256(Sample.png))
      #expect(proxy.requests == ["GET \(url) HTTP/1.1"])
      #expect(dns.queries.isEmpty)
    }
  }

  @Test(arguments: [403, 407, 502], [true, false])
  func `what a proxy answers in the origin's place is said`(_ status: Int, isSecure: Bool) async throws {
    try await withProxy(answer: status) { stage, _, _ in
      let fetched = await stage.fetch("\(isSecure ? "https" : "http")://photo.example.test/a")
      guard isSecure || status == 407 else {
        return #expect(fetched.reason == .httpStatus, "the response does not show whether the proxy or the origin sent it")
      }
      guard case .failure(let failure) = fetched.result else { return #expect(Bool(false)) }
      #expect(failure.reason == .connectProxy)
      #expect(failure.message.contains("\(status)"))
    }
  }

  @Test func `a proxy's own name is looked up, and no other`() async throws {
    try await withProxy(host: "egress.example", names: ["egress.example": .addresses([.v4(0x7F00_0001)])]) { stage, _, dns in
      stage.origin.serve("/a", Sample.png)
      #expect(await stage.fetch(stage.origin.url("/a", host: "photo.example.test")).file != nil)
      #expect(Set(dns.queries.map(\.question.name)) == ["egress.example"])
    }
  }

  @Test func `a proxy whose name leads nowhere cannot be reached`() async throws {
    try await withProxy(host: "egress.example") { stage, proxy, _ in
      #expect(await stage.fetch("https://photo.example.test/a").reason == .connectProxy)
      #expect(proxy.requests.isEmpty)
    }
  }

  @Test func `a URL that names the proxy itself is refused before any look-up`() async throws {
    try await withProxy { stage, proxy, dns in
      #expect(await stage.fetch("\(proxy.url)/a").reason == .policyHost)
      #expect(await stage.fetch("http://2130706433:\(proxy.port)/a").reason == .policyHost)
      stage.origin.serve("/a", Sample.png, faults: [.redirect(to: "\(proxy.url)/a", status: 302)])
      #expect(await stage.fetch(stage.origin.url("/a", host: "photo.example.test")).reason == .policyRedirect)
      #expect(proxy.requests.count == 1)
      #expect(dns.queries.isEmpty)
    }
  }

  @Test func `an address of the proxy's is refused like its name`() throws {
    let proxy = try Proxy("http://egress.example:3128")
    let gate = URLGate(URLPolicy(allowHTTP: true, allowedPorts: [3128...3128], proxy: proxy))
    #expect(refusal { () throws(Refusal) in try gate.check("http://EGRESS.example.:3128/") }?.reason == .policyHost)
    #expect(refusal { () throws(Refusal) in try gate.check("http://egress.example/") } == nil, "another port is another server")
    let literal = try gate.check("http://93.184.215.14:3128/")
    let address = try #require(IPAddress("93.184.215.14"))
    #expect(refusal { () throws(Refusal) in try proxy.check(literal, at: [address]) }?.reason == .policyHost)
  }

  @Test func `addresses and ports in URLs and in redirects are judged behind a proxy too`() async throws {
    try await withProxy { stage, proxy, _ in
      #expect(await stage.fetch("http://169.254.169.254/a").reason == .policyAddress)
      #expect(await stage.fetch("http://127.0.0.1/a").reason == .policyAddress)
      stage.origin.serve("/a", Sample.png, faults: [.redirect(to: "http://169.254.169.254/", status: 302)])
      #expect(await stage.fetch(stage.origin.url("/a", host: "photo.example.test")).reason == .policyRedirect)
      #expect(proxy.requests.count == 1)
    }
    let gate = URLGate(URLPolicy(allowedNets: [try CIDR("10.0.0.0/8")], proxy: try Proxy("http://127.0.0.1:3128")))
    #expect(refusal { () throws(Refusal) in try gate.check("https://photo.example:8443/") }?.reason == .policyPort)
  }

  @Test(arguments: [
    ("http://egress.example:3128", nil), ("HTTP://127.0.0.1:3128/", nil), ("http://[::1]:3128", nil),
    ("https://egress.example:3128", ProxyError.form), ("egress.example:3128", .form), ("http://egress.example", .form),
    ("http://egress.example:3128/path", .form), ("socks5h://127.0.0.1:1080", .form), ("http://", .form), ("", .form),
    ("http://user:secret@egress.example:3128", .password), ("http://user@egress.example:3128", .password),
  ])
  func `a proxy is a host and a port`(_ text: String, _ expected: ProxyError?) {
    var given: ProxyError?
    do throws(ProxyError) { _ = try Proxy(text) } catch { given = error }
    #expect(given == expected)
  }
}
