import Testing

@testable import Attache

@Suite struct HostPatternTests {
  @Test(arguments: [
    ("example.com", ["example.com"], ["a.example.com", "notexample.com", "example.com.evil.test"]),
    ("EXAMPLE.com.", ["example.com"], ["example.co"]),
    ("*.example.com", ["a.example.com", "a.b.example.com"], ["example.com", "notexample.com"]),
    (".example.com", ["example.com", "a.b.example.com"], ["notexample.com"]),
    ("localhost", ["localhost"], ["a.localhost"]), ("*.test", ["cdn.test"], ["test"]),
    ("8.8.8.8", ["8.8.8.8"], ["8.8.8.80"]), ("[2001:DB8:0::7]", ["2001:db8::7"], ["2001:db8::8"]), ("2001:db8::7", ["2001:db8::7"], []),
  ])
  func `a pattern means its hosts and no others`(text: String, inside: [String], outside: [String]) throws {
    let pattern = try HostPattern(text)
    for host in inside { #expect(pattern.matches(host), "\(host)") }
    for host in outside { #expect(!pattern.matches(host), "\(host)") }
  }

  @Test(arguments: [
    "", ".", "*", "*.", "**.example.com", "*example.com", "a.*.example.com", "*.*.com", "..example.com", "example..com",
    "https://example.com", "example.com/", "example.com:443", "bücher.example", "xn--zzzzzz--.example", "127.0.0.0/8", "127.1",
    "-a.example", "a b",
  ])
  func `a malformed pattern is refused`(text: String) {
    #expect(throws: HostPatternError.self) { try HostPattern(text) }
  }
}
