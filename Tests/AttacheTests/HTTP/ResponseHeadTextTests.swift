import Testing

@testable import Attache

/// Header fields are compared by their bytes: text that Unicode treats as equivalent is a different
/// value.
struct ResponseHeadTextTests {
  private func head(_ lines: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in ["HTTP/1.1 200 OK"] + lines + [""] {
      let bytes = Array((line + "\r\n").utf8)
      let isTaken = unsafe bytes.withUnsafeBytes { unsafe head.add($0) }
      #expect(isTaken)
    }
    return head
  }

  @Test func `entity tags that look alike contradict each other`() {
    #expect(head("ETag: \"caf\u{E9}\"", "ETag: \"cafe\u{301}\"").caching.tagsDiffer)
    #expect(!head("ETag: \"caf\u{E9}\"", "ETag: \"caf\u{E9}\"").caching.tagsDiffer)
  }

  @Test func `a body is chunked by that word alone`() {
    #expect(head("Transfer-Encoding: CHUNKED").isChunked)
    #expect(!head("Transfer-Encoding: chun\u{212A}ed").isChunked)
    #expect(Acceptance.judge(head("Transfer-Encoding: chun\u{212A}ed"), resumingFrom: 0) == .refuse(.httpFraming))
  }

  @Test func `a range holds digits alone`() {
    #expect(ContentRange("bytes 0-9/10") != nil)
    for range in ["bytes 0-9/10\u{301}", "bytes \u{301}0-9/10", "bytes 0-\u{301}9/10", "bytes +0-9/10", "bytes 0-9\u{2044}10"] {
      #expect(ContentRange(UntrustedText(range)) == nil, "\(range)")
    }
  }
}
