import Testing

@testable import Attache

@Suite struct URLGateTests {
  private let gate = URLGate(URLPolicy(allowHTTP: true))

  @Test func `every hostile URL is refused for its reason, and every honest one passes in its canonical text`() throws {
    let cases: [URLVector] = try vectors("urls.json")
    #expect(cases.count > 400)
    for vector in cases {
      var passed: CheckedURL?
      let refusal = refusal { () throws(Refusal) in passed = try gate.check(vector.bytes[...]) }
      #expect(refusal?.reason.rawValue == vector.refused, "\(vector.name): \(refusal?.message ?? "passed")")
      #expect(passed?.text == vector.passed, "\(vector.name)")
    }
  }

  @Test func `what passes once passes again unchanged`() throws {
    let cases: [URLVector] = try vectors("urls.json")
    for vector in cases where vector.refused == nil {
      let once = try gate.check(vector.bytes[...])
      #expect(try gate.check(once.text) == once, "\(vector.name)")
    }
  }

  @Test func `the URL that was checked before changes no verdict`() throws {
    let cases: [URLVector] = try vectors("urls.json")
    for vector in cases {
      let bytes = vector.bytes
      let earlier = try? gate.check(bytes[...])
      let ends = ["", "/a%20b?c#d", "?x", "#y", "/%zz", "/[", ":81", ".", "x", "@b", "\\", "/\\", "/ ", "//", "\n", "/é"]
      for end in ends {
        let next = bytes + end.utf8
        var alone, after: CheckedURL?
        let refusalAlone = refusal { () throws(Refusal) in alone = try gate.check(next[...]) }
        let refusalAfter = refusal { () throws(Refusal) in after = try gate.check(next[...], after: earlier) }
        #expect(refusalAlone == refusalAfter, "\(vector.name), \(end)")
        #expect(alone == after && alone?.host == after?.host && alone?.origin == after?.origin, "\(vector.name), \(end)")
      }
    }
  }

  @Test func `a long text without a scheme is cut in its message as it is shown`() {
    let bytes = [UInt8](repeating: 0xBE, count: 1024)
    let message = refusal { () throws(Refusal) in try gate.check(bytes[...]) }?.message
    #expect(message.map { $0.utf8.count < 400 } == true)
  }

  @Test func `a message holds nothing but printable text of modest length`() throws {
    let cases: [URLVector] = try vectors("urls.json")
    for vector in cases {
      guard let message = refusal({ () throws(Refusal) in try gate.check(vector.bytes[...]) })?.message else { continue }
      #expect(message.utf8.count < 400 && !message.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(vector.name): \(message)")
      #expect(message.unicodeScalars.allSatisfy { $0.isASCII || $0 == "…" }, "\(vector.name): \(message)")
    }
  }

  @Test func `the parts of a passed URL are those that it names`() throws {
    let url = try gate.check("HTTP://CDN.Example.test.:0080/a%20b?c=d#e")
    #expect(url.scheme == .http)
    #expect(url.host == "cdn.example.test")
    #expect(url.port == 80)
    #expect(url.address == nil)
    #expect(url.target == "/a%20b?c=d")
    #expect(url.origin == "http://cdn.example.test:80")
    let literal = try gate.check("https://[2606:4700:4700:0::1111]")
    #expect(literal.host == "2606:4700:4700::1111")
    #expect(literal.address == IPAddress("2606:4700:4700::1111"))
    #expect(literal.origin == "https://[2606:4700:4700::1111]:443")
  }

  @Test func `plain http is refused unless it is allowed`() {
    let strict = URLGate(URLPolicy())
    #expect(refusal { () throws(Refusal) in try strict.check("http://cdn.example.test/") }?.reason == .policyScheme)
    #expect(refusal { () throws(Refusal) in try strict.check("https://cdn.example.test/") } == nil)
  }

  @Test func `8192 bytes are read, one more is too long, and so is a text that grows past them by escaping`() {
    let start = "https://cdn.example.test/"
    let room = 8192 - start.utf8.count
    #expect(refusal { () throws(Refusal) in try gate.check(start + String(repeating: "a", count: room)) } == nil)
    for tail in [String(repeating: "a", count: room + 1), String(repeating: "é", count: room / 3)] {
      #expect(refusal { () throws(Refusal) in try gate.check(start + tail) }?.reason == .policyURL)
    }
  }

  @Test func `an allowed port passes for every host`() throws {
    let gate = URLGate(URLPolicy(allowHTTP: true, allowedPorts: [8000...8100, 8443...8443]))
    for port in [8000, 8050, 8100, 8443] {
      #expect(try gate.check("https://cdn.example.test:\(port)/").portIsAllowed)
    }
    for port in [7999, 8101, 8442] {
      #expect(refusal { () throws(Refusal) in try gate.check("https://cdn.example.test:\(port)/") }?.reason == .policyPort)
    }
    #expect(try gate.check("https://cdn.example.test:8443/a").text == "https://cdn.example.test:8443/a")
  }

  @Test func `inside an allowed network every port passes, and for a name the address decides`() throws {
    let gate = URLGate(URLPolicy(allowedNets: [try CIDR("127.0.0.0/8")]))
    #expect(try gate.check("https://127.0.0.1:9999/").portIsAllowed)
    #expect(refusal { () throws(Refusal) in try gate.check("https://8.8.8.8:9999/") }?.reason == .policyPort)
    let url = try gate.check("https://cdn.example.test:9999/")
    #expect(!url.portIsAllowed)
    let loopback = try #require(IPAddress("127.0.0.1"))
    let publicAddress = try #require(IPAddress("93.184.216.34"))
    try gate.addressGate.check(loopback, for: url)
    #expect(refusal { () throws(Refusal) in try gate.addressGate.check(publicAddress, for: url) }?.reason == .policyPort)
    #expect(
      refusal { () throws(Refusal) in try gate.addressGate.check(answer: [loopback, publicAddress], for: url) }?.reason == .policyPort)
  }

  @Test func `a local name passes only where a host pattern names it`() throws {
    let nets = [try CIDR("127.0.0.0/8")]
    let closed = URLGate(URLPolicy(allowedNets: nets))
    let message = try #require(refusal { () throws(Refusal) in try closed.check("https://localhost:8080/") }?.message)
    #expect(message.contains("--allow-host localhost"))
    let hosts = [try HostPattern("localhost"), try HostPattern("nas"), try HostPattern("*.internal"), try HostPattern(".onion")]
    let open = URLGate(URLPolicy(allowedNets: nets, allowedHosts: hosts))
    for host in ["localhost", "LOCALHOST.", "nas", "a.internal"] {
      #expect(refusal { () throws(Refusal) in try open.check("https://\(host):8080/") } == nil, "\(host)")
    }
    for host in ["a.localhost", "printer.local", "intranet", "abcdefghij.onion", "1.0.0.127.in-addr.arpa", "8.B.D.0.IP6.ARPA."] {
      #expect(refusal { () throws(Refusal) in try open.check("https://\(host)/") }?.reason == .policyHost, "\(host)")
    }
  }

  @Test func `only allowed hosts pass, and a denied one never`() throws {
    let policy = URLPolicy(
      allowedHosts: [try HostPattern(".example.test"), try HostPattern("8.8.8.8")], deniedHosts: [try HostPattern("bad.example.test")])
    let gate = URLGate(policy)
    for host in ["example.test", "cdn.example.test", "8.8.8.8", "134744072", "BAD.example.test.cdn.example.test"] {
      #expect(refusal { () throws(Refusal) in try gate.check("https://\(host)/") } == nil, "\(host)")
    }
    for host in ["bad.example.test", "BAD.Example.Test.", "example.org", "notexample.test", "8.8.4.4"] {
      #expect(refusal { () throws(Refusal) in try gate.check("https://\(host)/") }?.reason == .policyHost, "\(host)")
    }
  }

  @Test func `a denied address is denied in every spelling`() throws {
    let gate = URLGate(URLPolicy(deniedHosts: [try HostPattern("8.8.8.8"), try HostPattern("[2606:4700:4700:0:0::1111]")]))
    for host in ["8.8.8.8", "134744072", "0x8.0x8.2056", "010.8.8.8", "[2606:4700:4700::1111]"] {
      #expect(refusal { () throws(Refusal) in try gate.check("https://\(host)/") }?.reason == .policyHost, "\(host)")
    }
  }

  @Test func `a refusal names the rule, its source and the flag`() throws {
    let gate = URLGate(URLPolicy())
    func message(_ url: String) -> String? { refusal { () throws(Refusal) in try gate.check(url) }?.message }
    #expect(message("https://127.0.0.1/") == "127.0.0.1 is loopback (RFC 1122); --allow-net 127.0.0.0/8 would allow it")
    #expect(message("https://cdn.example.test:25/") == "port 25 is not allowed (80 and 443 are); --allow-port 25 would allow it")
    #expect(message("http://cdn.example.test/") == "plain http is not fetched; --allow-http would allow it")
    #expect(
      message("http://127.0.0.1/")
        == "plain http is not fetched, and 127.0.0.1 is loopback (RFC 1122); --allow-http --allow-net 127.0.0.0/8 would allow it")
    #expect(
      message("http://cdn.example.test:8080/")
        == "plain http is not fetched, and port 8080 is not allowed (80 and 443 are); --allow-http --allow-port 8080 would allow it")
    #expect(
      message("http://169.254.169.254/")?.hasPrefix("plain http is not fetched, which --allow-http would allow; and 169.254.169.254 is ")
        == true)
    #expect(
      message("https://[64:ff9b::7f00:1]/")
        == "64:ff9b::7f00:1 is NAT64 (RFC 6052); --allow-net 64:ff9b::/96 --allow-net 127.0.0.0/8 would allow it")
    #expect(message("https://[::ffff:169.254.169.254]/")?.hasSuffix("no flag allows it") == true)
  }
}
