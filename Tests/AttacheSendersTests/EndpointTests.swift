import Testing

@testable import AttacheSenders

/// Hosts as users write them.
struct EndpointTests {
  @Test(arguments: [
    ("api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
    ("API.Push.Apple.com.:2197", "api.push.apple.com", 2197, "api.push.apple.com:2197"),
    ("127.0.0.1:8443", "127.0.0.1", 8443, "127.0.0.1:8443"), ("[::1]", "::1", 443, "[::1]"), ("[::1]:9", "::1", 9, "[::1]:9"),
    ("localhost", "localhost", 443, "localhost"),
  ])
  func `a host may have a port`(text: String, host: String, port: UInt16, authority: String) throws {
    let endpoint = try #require(PushEndpoint(text))
    #expect((endpoint.host, endpoint.port, endpoint.authority) == (host, port, authority))
  }

  @Test(arguments: [
    "", ":443", "host:", "host:0", "host:65536", "host:+1", "host:1:2", "::1", "[::1", "[::1]x", "[127.0.0.1]", "[host]", "a..b", "-_-/..",
    "http://host", "ho st",
    "host\u{301}", String(repeating: "a", count: 64), "host:443 ",
  ])
  func `what is no host is refused`(text: String) {
    #expect(PushEndpoint(text) == nil)
  }
}
