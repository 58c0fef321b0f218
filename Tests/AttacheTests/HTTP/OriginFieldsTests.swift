import Testing

@testable import Attache

/// The file of `--header-file`.
@Suite struct OriginFieldsTests {
  private static let secret = "s3cr3t"

  private static func fields(_ text: String) throws -> OriginFields {
    try OriginFields(Array(text.utf8), path: "fields")
  }

  @Test func `a line gives a field to an origin, and comments and empty lines to none`() throws {
    let fields = try Self.fields(
      "# for the CDN\n\n  https://cdn.example: Authorization: Bearer a:b, c\nhttps://cdn.example:\tX-Key:d\nhttp://127.0.0.1:8080: Cookie: a=b\n"
    )
    #expect(fields["https://cdn.example:443"] == ["Authorization: Bearer a:b, c", "X-Key: d"])
    #expect(fields["http://127.0.0.1:8080"] == ["Cookie: a=b"])
    #expect(fields["https://cdn.example:8443"] == [] && fields["http://cdn.example:80"] == [] && fields["https://a.cdn.example:443"] == [])
    #expect(try Self.fields("").isEmpty && !fields.isEmpty)
  }

  @Test(arguments: [
    ("HTTPS://CDN.Example.", "https://cdn.example/a"), ("https://cdn.example:443", "https://cdn.example/a"),
    ("https://cdn.example:0443/", "https://CDN.example./a"), ("https://cdn.example:", "https://cdn.example:443/a"),
    ("https://cdn.example:8443", "https://cdn.example:8443/a"), ("https://0x5DB8D822", "https://93.184.216.34/a"),
    ("https://[2606:2800:220:1::1]", "https://[2606:2800:0220:0001:0::1]/a"),
  ])
  func `an origin is compared as URLs are, with its port`(origin: String, url: String) throws {
    let gate = URLGate(URLPolicy(allowedPorts: [8443...8443]))
    #expect(try Self.fields("\(origin): X-Key: 1")[gate.check(url).origin] == ["X-Key: 1"])
  }

  @Test(arguments: [
    ("https://cdn.example Authorization \(secret)", "is not an origin, a colon, a space and a field"),
    ("https://cdn.example:Authorization:\(secret)", "is not an origin, a colon, a space and a field"),
    ("https://cdn.example: \(secret)", "has no field after its origin"), ("https://cdn.example: ", "is not an origin"),
    ("cdn.example: X-Key: \(secret)", "does not begin with an origin"),
    ("ftp://cdn.example: X-Key: \(secret)", "does not begin with an origin"),
    ("https://: X-Key: \(secret)", "does not begin with an origin"), ("https://cdn.example/a: X-Key: \(secret)", "and no path"),
    ("https://cdn.example?\(secret): X-Key: 1", "and no path"), ("https://u:\(secret)@cdn.example: X-Key: 1", "the host or the port"),
    ("https://cdn.example:99999: X-Key: \(secret)", "the host or the port"),
    ("https://*.example: X-Key: \(secret)", "the host or the port"),
    ("https://cdn.example: X Key: \(secret)", "without a valid name"), ("https://cdn.example: Bearer \(secret):", "without a valid name"),
    ("https://cdn.example: : \(secret)", "without a valid name"), ("https://cdn.example: Ä: \(secret)", "without a valid name"),
    ("https://cdn.example: X-Key:", "has no value"), ("https://cdn.example: X-Key: \t", "has no value"),
    ("https://cdn.example: X-Key: \(secret)\r", "a control character"), ("https://cdn.example: X-Key: \(secret)\rX-Other: 1", "a control"),
    ("https://cdn.example: X-Key: \(secret)\0", "a control character"), ("https://cdn.example: X-Key: \(secret)\u{7F}", "a control"),
    ("https://cdn.example: X-Key: \(secret)…", "not ASCII"),
    ("https://cdn.example: X-Key: \(secret)" + String(repeating: "x", count: 4_000), "more than 4000 bytes"),
    ("https://cdn.example: X-Key: 1\nhttps://CDN.example:443: x-key: \(secret)", "the field 'x-key' again"),
    ((0..<33).map { "https://cdn.example: X-\($0): \(secret)" }.joined(separator: "\n"), "more than 32 fields"),
    ((0..<2).map { "https://cdn.example: X-\($0): " + String(repeating: "x", count: 3_000) }.joined(separator: "\n"), "6000 bytes"),
  ])
  func `a wrong line is named by its number, and nothing of a value is quoted`(text: String, message: String) throws {
    let error = #expect(throws: StartError.self) { try Self.fields("https://a.example: X-Key: 1\n" + text) }
    let description = try #require(error?.description)
    #expect(description.contains(message), "\(description)")
    #expect(description.hasPrefix("--header-file: line \(text.split(separator: "\n").count + 1) of fields "), "\(description)")
    #expect(!description.contains(Self.secret), "\(description)")
  }

  @Test(arguments: [
    "Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE",
    "Trailer", "Upgrade", "Expect", "HTTP2-Settings", "Content-Encoding", "Accept-Encoding", "Range", "If-Range", "If-None-Match",
    "If-Modified-Since",
  ])
  func `a field of the connection, or one that attache sets, is refused`(name: String) throws {
    let error = #expect(throws: StartError.self) { try Self.fields("https://cdn.example: \(name): a") }
    #expect(error?.description.contains("'\(name)', which cannot be added") == true, "\(String(describing: error))")
  }

  @Test(arguments: ["Authorization", "Cookie", "Referer", "User-Agent", "Accept", "X-Api-Key", "x!#$%&'*+-.^_`|~1"])
  func `another field may be added`(name: String) throws {
    #expect(try Self.fields("https://cdn.example: \(name): a\tb")["https://cdn.example:443"] == ["\(name): a\tb"])
  }

  @Test(arguments: [("", "no value"), (" a", "blank"), ("a\n", "control"), ("a\r\nX: b", "control"), ("é", "ASCII")])
  func `a User-Agent is a value, too`(text: String, message: String) {
    let error = #expect(throws: StartError.self) { try RequestField.userAgent(text) }
    #expect(error?.description.contains(message) == true)
  }

  @Test func `only the origin that was asked for gets its fields, before and after a redirect`() throws {
    let rules = FetchState.Rules(gate: URLGate(URLPolicy()), limits: DownloadLimits(MediaLimits()), hasIndex: false)
    var state = FetchState(try rules.gate.check(FetchStateTests.start), fields: ["X-Key: 1"], rules)
    #expect(state.fields == ["X-Key: 1"])
    for (target, fields) in [
      ("https://other.example/a", []), ("https://cdn.example:443/b", ["X-Key: 1"]), ("https://www.cdn.example/c", []),
    ] as [(String, [String])] {
      for event in [FetchState.Event.begun, .resolved(.success([FetchStateTests.public1])), .placeGranted] { _ = state.handle(event) }
      _ = state.handle(.head(FetchStateTests.head(302, "Location: \(target)"), at: nil))
      _ = state.handle(FetchStateTests.end())
      #expect(state.url.text == target.replacing(":443", with: ""))
      #expect(state.fields == fields)
    }
  }

  @Test func `a file that came with fields is private`() throws {
    let rules = FetchState.Rules(gate: URLGate(URLPolicy()), limits: DownloadLimits(MediaLimits()), hasIndex: false)
    for (fields, isPrivate) in [([], false), (["X-Key: 1"], true)] as [([String], Bool)] {
      var state = FetchState(try rules.gate.check(FetchStateTests.start), fields: fields, rules)
      for event in [FetchState.Event.begun, .resolved(.success([FetchStateTests.public1])), .placeGranted] { _ = state.handle(event) }
      _ = state.handle(.head(FetchStateTests.head(200, "Content-Length: 10"), at: nil))
      _ = state.handle(.body(10))
      _ = state.handle(FetchStateTests.end())
      guard case .handOut(let file) = state.handle(.stored(FetchStateTests.file)) else {
        Issue.record("the file is not handed out")
        continue
      }
      #expect(file.isPrivate == isPrivate)
    }
  }
}
