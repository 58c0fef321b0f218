import Testing

@testable import Attache

@Suite struct URLDetailTests {
  @Test(arguments: [
    ("https://a.example/b.png", "https://a.example/b.png"),
    ("https://a.example/b.png?token=secret", "https://a.example/b.png"),
    ("https://a.example?token=secret", "https://a.example"),
    ("https://a.example/b#secret", "https://a.example/b"),
    ("https://anna:secret@a.example:444/b", "https://a.example:444/b"),
    ("https://anna@b:secret@a.example/b", "https://a.example/b"),
    ("/b?secret", "/b"),
    ("https://a.example/\u{E9}\n\u{1B}[2J\u{7F}", #"https://a.example/\xc3\xa9\x0a\x1b[2J\x7f"#),
    ("", ""),
  ])
  func `the short form carries nothing that may be a secret, and only printable ASCII`(url: String, shown: String) {
    #expect(URLDetail.short.text(of: UntrustedText(url)) == shown)
  }

  @Test func `the full form carries everything, as printable ASCII`() {
    #expect(URLDetail.full.text(of: "https://anna:pw@a.example/b?c=\u{E9}#d\n") == #"https://anna:pw@a.example/b?c=\xc3\xa9#d\x0a"#)
  }

  @Test func `what is long is cut, and says so`() {
    let long = "https://a.example/" + String(repeating: "a", count: 1 << 20)
    #expect(URLDetail.short.text(of: UntrustedText(long)) == String(long.prefix(200)) + "…")
    #expect(URLDetail.full.text(of: UntrustedText(long)) == String(long.prefix(8192)) + "…")
    #expect(URLDetail.short.text(of: UntrustedText(String(long.prefix(200)))) == String(long.prefix(200)))
    #expect(
      URLDetail.short.text(of: UntrustedText(String(repeating: "\u{E9}", count: 26))) == String(repeating: #"\xc3\xa9"#, count: 25) + "…")
  }

  @Test(arguments: [
    "..", "../x", "a/../b", #"a\..\b"#, "/etc/passwd", #"\\server\share"#, "a\u{0}.png", "a\nb", "a/..", "a\u{85}b", "a\u{9B}b",
    "a\u{202E}b", "a\u{2066}b", "a\u{200F}b", "a\u{2028}b", "a\u{2029}b",
  ])
  func `an identifier that leaves its folder or forges a line is refused`(identifier: String) {
    #expect(MediaReference(url: "https://a.example/b", identifier: UntrustedText(identifier)).refusal == .payloadIdentifier)
  }

  @Test func `an identifier has at most 1,024 bytes`() {
    let longest = String(repeating: "a", count: 1_024)
    #expect(MediaReference(url: "https://a.example/b", identifier: UntrustedText(longest)).refusal == nil)
    #expect(MediaReference(url: "https://a.example/b", identifier: UntrustedText(longest + "a")).refusal == .payloadIdentifier)
  }

  @Test(arguments: [
    "", "hero", "a..b", "...", "a/b", "1", "https://a.example/b.png", "\u{E9} \u{1F600}", "..a", "a..", "\u{1F468}\u{200D}\u{1F467}",
  ])
  func `any other identifier is taken`(identifier: String) {
    #expect(MediaReference(url: "https://a.example/b", identifier: UntrustedText(identifier)).refusal == nil)
  }
}
