import Attache
import AttacheTesting
import Foundation
import Testing

/// Environment variables that would change the behaviour of libraries.
@Suite(.timeLimit(.minutes(2)))
struct EnvironmentTests {
  /// Sets every variable that libcurl, OpenSSL, c-ares and glibc read, each to a harmful value.
  private func mislead(_ launch: inout Launch, _ folder: TemporaryFolder, canary: FaultOrigin) throws {
    let files = [
      "openssl.cnf": "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\nMaxProtocol = TLSv1.1\nCipherString = NULL\n",
      "aliases": "photo.example elsewhere.example\n", "hosts": "127.0.0.9 photo.example\n", "roots.pem": "",
      ".netrc": "default login user password secret\n", ".curlrc": "proxy = \"\(canary.url(""))\"\nuser = \"user:secret\"\n",
    ]
    for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder[name])) }
    for name in ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "socks_proxy"] {
      launch.environment[name] = canary.url("")
      launch.environment[name.uppercased()] = canary.url("")
    }
    let variables = [
      "ALL_PROXY": "socks5h://127.0.0.1:\(canary.port)", "no_proxy": "*", "NO_PROXY": "*", "HOME": folder.path, "CURL_HOME": folder.path,
      "NETRC": folder[".netrc"], "SSLKEYLOGFILE": folder["keys"], "OPENSSL_CONF": folder["openssl.cnf"], "OPENSSL_MODULES": folder.path,
      "OPENSSL_ENGINES": folder.path, "OPENSSL_CONF_INCLUDE": folder.path, "SSL_CERT_FILE": folder["roots.pem"],
      "SSL_CERT_DIR": folder.path,
      "CURL_CA_BUNDLE": folder["roots.pem"], "CURL_SSL_BACKEND": "nss", "HOSTALIASES": folder["aliases"], "CARES_HOSTS": folder["hosts"],
      "LOCALDOMAIN": "elsewhere.example", "RES_OPTIONS": "ndots:15 attempts:1 timeout:1 rotate", "LC_ALL": "tr_TR.UTF-8",
    ]
    launch.environment.merge(variables) { $1 }
  }

  @Test func `an environment that points elsewhere changes nothing`() async throws {
    let origin = try await FaultOrigin.start(tls: .selfMade(names: ["photo.example"]))
    let plain = try await FaultOrigin.start()
    let canary = try await FaultOrigin.start()
    let dns = try await StubDNS(["photo.example": .addresses([try #require(IPAddress("127.0.0.1"))])])
    for server in [origin, plain] { server.serve("/a", try Sample.medium("picture.png")) }
    let tool = try AttacheTool()
    let folder = try TemporaryFolder()
    let flags = AttacheTool.loopback + ["--dns-server", dns.address, "--cacert", try #require(origin.rootCertificatePEMFile)]
    let lines = [origin.url("/a", host: "photo.example"), plain.url("/a", host: "photo.example")].map { Sample.payload($0) + "\n" }
    let run = try await tool.run(flags, input: lines.joined()) { try? mislead(&$0, folder, canary: canary) }
    #expect(run.text.split(separator: "\n").map { Enriched.attachments($0).count } == [1, 1])
    #expect(canary.connectionCount == 0)
    #expect(!FileManager.default.fileExists(atPath: folder["keys"]), "no TLS keys are written")
    #expect(Set(dns.queries.map(\.question.name)) == ["photo.example"])
    for request in origin.requests + plain.requests {
      #expect(Set(request.fields.map { $0.name.lowercased() }).isSubset(of: ["host", "user-agent", "accept"]))
      #expect(request.fields.first { $0.name.lowercased() == "user-agent" }?.value == "attache")
    }
    for server in [origin, plain, canary] { await server.stop() }
    await dns.stop()
  }

  /// Everything that passes the gate goes to a proxy that does not exist, so no packet leaves the
  /// machine.
  @Test func `every URL of the vectors has the same answer in every locale`() async throws {
    let nobody = try await FaultOrigin.start()
    let proxy = nobody.url("")
    await nobody.stop()
    let lines = try Vector.all().compactMap { vector -> [UInt8]? in
      guard case .url(let bytes) = vector.way else { return nil }
      return Array(#"{"aps":{"alert":"Hello","mutable-content":1},"image":""#.utf8) + Self.escaped(bytes) + Array("\"}\n".utf8)
    }
    #expect(lines.count > 200)
    var answers: [[String]] = []
    for locale in ["C", "C.UTF-8", "tr_TR.UTF-8"] {
      let tool = try AttacheTool()
      let flags = ["--allow-http", "--retries", "0", "--proxy", proxy, "--report", tool.report]
      let run = try await tool.run(flags, input: Array(lines.joined())) { $0.environment["LC_ALL"] = locale }
      #expect(run.exit == .status(0))
      let records = try ReportLine.read(tool.report).sorted { $0.line < $1.line }
      answers.append(records.map { "\($0.line) \($0.outcome) \($0.reason ?? "")" })
    }
    #expect(answers[0].count == lines.count)
    #expect(answers.allSatisfy { $0 == answers[0] })
  }

  /// As in a JSON string; bytes that are not UTF-8 stay as they are.
  private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
      case 0..<0x20: Array("\\u00".utf8) + Array((byte < 16 ? "0" : "").utf8) + Array(String(byte, radix: 16).utf8)
      default: [byte]
      }
    }
  }

  @Test func `a hundred origins that drip hold up no good line`() async throws {
    try await withOrigin { slow in
      try await withOrigin { good in
        slow.serve("/a", try Sample.medium("picture.png"), faults: [.drip(bytesPerSecond: 10)])
        good.serve("/a", try Sample.medium("picture.png"))
        let program = try AttacheTool().start(
          AttacheTool.loopback + ["--unordered", "--per-host", "100", "--deadline", "5s", "--cache", "off"])
        program.input.write((0..<100).map { _ in Sample.payload(slow.url("/a")) + "\n" }.joined())
        await slow.waitForRequests(count: 100)
        program.input.write(Sample.payload(good.url("/a")) + "\n")
        let first = try #require(await program.lines(1).first)
        #expect(Enriched.attachments(first).map(\.source) == [good.url("/a")])
        program.input.close()
        #expect(await program.exit() == .status(0))
      }
    }
  }
}
