import Testing

@testable import Attache

/// Untrusted text equals only the same bytes, not text that looks alike.
struct UntrustedTextTests {
  private static let pairs: [(String, String)] = [
    ("/a;b", "/a\u{37E}b"), ("caf\u{E9}.png", "cafe\u{301}.png"), ("https://xK.t/", "https://x\u{212A}.t/"),
    ("\u{1100}\u{1161}", "\u{AC00}"),
    ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("", "\u{0}"), ("a", "a\u{0}"),
  ]

  @Test(arguments: pairs.indices)
  func `texts that look alike are two`(index: Int) {
    let (left, right) = (UntrustedText(Self.pairs[index].0), UntrustedText(Self.pairs[index].1))
    #expect(left != right)
    #expect(Set([left, right, left]).count == 2)
    #expect([left: 1, right: 2][left] == 1)
  }

  @Test(arguments: ["", "a", "fifteen bytes..", "sixteen bytes...", "caf\u{E9}", "\r\n", "\u{0}"])
  func `a text is equal to its copy`(text: String) {
    let copy = UntrustedText(String(decoding: Array(text.utf8), as: UTF8.self))
    #expect(UntrustedText(text) == copy)
    #expect(UntrustedText(text).hashValue == copy.hashValue)
  }

  @Test func `a text and what is hashed after it cannot pass for another pair`() {
    #expect(Set([[UntrustedText("ab"), "c"], [UntrustedText("a"), "bc"]]).count == 2)
  }

  @Test func `only ASCII is made small, and only a short ASCII word is compared with words`() {
    #expect(UntrustedText("CHUN\u{212A}ED").lowercasedASCII == "chun\u{212A}ed")
    #expect(UntrustedText("CHUN\u{212A}ED").lowercasedWord(maximumBytes: 255) == nil)
    #expect(UntrustedText("Image/PNG").lowercasedWord(maximumBytes: 9) == "image/png")
    #expect(UntrustedText("Image/PNG").lowercasedWord(maximumBytes: 8) == nil)
  }

  @Test func `a start is compared by bytes`() {
    #expect(UntrustedText("/aps/\u{301}").starts(with: "/aps/"))
    #expect(!UntrustedText("/aps").starts(with: "/aps/"))
    #expect(UntrustedText("").starts(with: ""))
  }

  @Test func `what the URL gate passes is ASCII, so that String compares it by its bytes`() throws {
    for url in ["https://cdn.example/caf\u{E9}?\u{37E}#\u{301}", "HTTPS://CDN.example./a;b"] {
      let checked = try URLGate(URLPolicy()).check(url)
      #expect([checked.text, checked.origin, checked.host, checked.target].allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }
  }
}
