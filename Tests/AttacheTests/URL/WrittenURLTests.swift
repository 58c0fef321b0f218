import Testing

@testable import Attache

/// How a text of a payload is read as a URL.
struct WrittenURLTests {
  private static let urls = [
    // White space around it.
    ("\n\t https://a.example/1.jpg \r\n", "https://a.example/1.jpg"), ("\u{A0}https://a.example/é\u{2003}", "https://a.example/é"),
    (" logo ", "logo"), (" \n", ""), ("", ""),
    // What RFC 3986 does not allow in path, query and fragment.
    ("https://a.example/House Clean.jpg", "https://a.example/House%20Clean.jpg"),
    ("https://a.example/50%off.jpg", "https://a.example/50%25off.jpg"), ("https://a.example/a%", "https://a.example/a%25"),
    ("https://a.example/[2024].jpg", "https://a.example/%5B2024%5D.jpg"),
    ("https://a.example/p?f[a]=a|b&q=50%#a b", "https://a.example/p?f%5Ba%5D=a%7Cb&q=50%25#a%20b"),
    ("https://a.example/\"<>^`{|}", "https://a.example/%22%3C%3E%5E%60%7B%7C%7D"),
    ("HTTP://a.example:80/a b", "HTTP://a.example:80/a%20b"), ("https://[2606:4700::1]/a b", "https://[2606:4700::1]/a%20b"),
    // What it allows, and what is left to the gate.
    ("https://a.example/a%20b(1);c=d,e'f!$&*+@~.jpg?x=/?:@", "https://a.example/a%20b(1);c=d,e'f!$&*+@~.jpg?x=/?:@"),
    ("https://a.example/Grüße-тест.jpg", "https://a.example/Grüße-тест.jpg"), ("https://a.example/a\\b c", "https://a.example/a\\b%20c"),
    ("https://a.example/a\nb", "https://a.example/a\nb"), ("https://a b.example/", "https://a b.example/"),
    ("ftp://a.example/a b", "ftp://a.example/a b"), ("a b", "a b"), ("https:/a.example/a b", "https:/a.example/a b"),
    // A URL without its scheme.
    ("//a.example/a b", "https://a.example/a%20b"), ("//a.example:8443", "https://a.example:8443"), ("//a/b.png", "https://a/b.png"),
    ("///a.example/b", "///a.example/b"), ("/a.example/b", "/a.example/b"), ("//localhost/a", "https://localhost/a"),
    ("//uUxAAAAAAAAAAAAAAAAA", "//uUxAAAAAAAAAAAAAAAAA"),
  ]

  @Test(arguments: urls)
  func `a text is read as Apple's frameworks read it`(text: String, url: String) {
    #expect(UntrustedText(text).asURL == UntrustedText(url))
    #expect(UntrustedText(url).asURL == UntrustedText(url))
  }

  @Test(arguments: [
    ("https//:cam.example.org/a.jpg", "policy.url", "write https://cam.example.org/a.jpg"),
    ("https:/a.example/b.jpg", "policy.url", "write https://a.example/b.jpg"), ("http:a.example", "policy.url", "write https://a.example"),
    ("https;//a.example/b", "policy.url", "write https://a.example/b"), ("https//a.example/b", "policy.url", "write https://a.example/b"),
    ("HTTPS:///a.example/b", "policy.url", "write https://a.example/b"),
    ("https://https://a.example/b", "policy.url", "write https://a.example/b"),
    ("https://http//a.example/b", "policy.url", "write https://a.example/b"),
    ("www.example.org/a.jpg", "policy.scheme", "has no scheme"), ("images.cdn.example/a/b.jpg", "policy.scheme", "has no scheme"),
    ("data:image/png;base64,iVBORw0KGgo=", "policy.scheme", "contains the file itself"),
    ("blob:https://a.example/1", "policy.scheme", "leads to no server"), ("file:///a.jpg", "policy.scheme", "leads to no server"),
    ("iVBORw0KGgoAAAANSUhEUg", "policy.scheme", "in base64"), ("/9j/4AAQSkZJRgABAQ", "policy.scheme", "in base64"),
    ("AAAAIGZ0eXBpc29tAAACAG", "policy.scheme", "in base64"), ("//uQxAAAAAAAAAAAAAAAAA", "policy.scheme", "in base64"),
    ("//NkxAAAAAAAAAAAAAAAAA", "policy.scheme", "in base64"), ("https: //a.example/b", "policy.url", "write https://a.example/b"),
    ("'https://a.example/b.jpg'", "policy.url", "is in quotation marks or brackets; write https://a.example/b.jpg"),
    ("<https://a.example/b.jpg>", "policy.url", "write https://a.example/b.jpg"),
    ("'<HTTP://a.example/b'>", "policy.url", "write HTTP://a.example/b"),
    ("'https://a.example/b", "policy.url", "write https://a.example/b"),
    ("(https://a.example/b_(c))", "policy.url", "write https://a.example/b_(c)"),
    ("`https://a.example/b`", "policy.url", "write https://a.example/b"),
    ("<https://a.example/b> (photo)", "policy.url", "write https://a.example/b"),
    ("'https:/a.example/b'", "policy.url", "does not begin as a URL does; write https://a.example/b"),
    ("<www.example.org/a.jpg>", "policy.scheme", "has no scheme"),
    ("'data:image/png;base64,iVBORw0KGgo='", "policy.scheme", "contains the file itself"),
  ])
  func `a slip is refused in words that quote it`(text: String, reason: String, part: String) throws {
    #expect(URLMistake(text.utf8) != nil)
    let refusal = try #require(refusal { () throws(Refusal) in try URLGate(URLPolicy(allowHTTP: true)).check(text) })
    #expect(refusal.reason.rawValue == reason && refusal.message.contains(part), "\(refusal.message)")
    #expect(refusal.message.hasPrefix("'\(text)'") || refusal.message.contains("'\(text)'"), "\(refusal.message)")
    #expect(PayloadReader().read(candidateLine(#""image":"\#(text)""#)).candidate?.urls == [text])
  }

  @Test(arguments: [
    #""https://a.example/b""#, #"\"https://a.example/b\""#, "“https://a.example/b”", "« https://a.example/b »", #"["https://a.example/b"]"#,
  ])
  func `a URL in any marks is shown without them`(text: String) throws {
    let refusal = try #require(refusal { () throws(Refusal) in try URLGate(URLPolicy()).check(text) })
    #expect(refusal.reason == .policyURL && refusal.message.hasSuffix("; write https://a.example/b"), "\(refusal.message)")
    #expect(UntrustedText(text).isMeantAsURL)
  }

  @Test(arguments: [
    "https//:a.example/b?sig=SECRET", "https//:name:SECRET@a.example/b", "https://https://name:SECRET@a.example/b?token=SECRET",
    "https:/SECRET@a.example/b#SECRET", "blob:https://name:SECRET@a.example/b",
    "https//:name:SECRET" + String(repeating: "x", count: 90) + "@a.example/b",
    "'https://a.example/b?sig=SECRET'", "<https://name:SECRET@a.example/b>", #""https://name:SECRET@a.example/b#SECRET""#,
  ])
  func `no secret of a URL with a slip is shown`(text: String) throws {
    let refusal = try #require(refusal { () throws(Refusal) in try URLGate(URLPolicy()).check(text) })
    #expect(!refusal.message.contains("SECRET") && refusal.message.contains("a.example/b"), "\(refusal.message)")
    #expect(!URLDetail.short.text(of: UntrustedText(text)).contains("SECRET"))
    #expect(URLDetail.short.text(of: UntrustedText("https://a.example/@name/b@2x.png")) == "https://a.example/@name/b@2x.png")
  }

  @Test func `a file in the payload is refused as one, however long it is and however its lines are broken`() throws {
    for text in [
      "data:image/png;base64," + String(repeating: "A", count: 20_000), "iVBORw0KGgo" + String(repeating: "AAAA\r\n", count: 40),
    ] {
      let refusal = try #require(refusal { () throws(Refusal) in try URLGate(URLPolicy()).check(text) })
      #expect(refusal.reason == .policyScheme && refusal.message.utf8.count < 250, "\(refusal.message)")
    }
  }

  @Test(arguments: [
    "https://a.example/b", "http://a.example", "https://https.example/a", "https://http-cache.example/a", "hero", "hero.png", "a/b.png",
    "https",
    "http/2.png", "'hero'", "<b>", "[1]", "(see https://a.example)", #"{"url":"https://a.example/b"}"#, "httpd/a.png", "hero.sprite.png",
    "1.2.3/a.png", "a..b/c", "data", "dataset:1", "iVBOR", "9j/4AAQSkZJRgABAQ", "",
  ])
  func `an honest text is no slip`(text: String) {
    #expect(URLMistake(text.utf8) == nil)
  }

  @Test(arguments: ["//a.example/1", " https://a.example/1 "])
  func `a URL with a host needs no base, although the row reads relative ones`(url: String) throws {
    for members in [
      #""attachment":{"url":"\#(url)"}"#, #""media-attachment-url":"\#(url)""#,
      #""custom":{"a":{"k.message":{"data":{"id":1}}}},"attachments":{"pictureUrl":"\#(url)"}"#,
    ] {
      let references = try #require(PayloadReader().read(candidateLine(members)).candidate).references
      #expect(references.map(\.url) == ["https://a.example/1"] && references[0].needs.isEmpty, "\(members)")
    }
  }

  @Test func `the public address takes the place of the text as it was written`() throws {
    let line = candidateLine(
      #""image":" \/\/a.example\/a b.jpg\n","_sw":{"media":{"url":"https://a.example/1","fallback_url":" //b.example/2 "}}"#)
    let twin = try RewriteStage().rewrite(line)
    let (sw, generic) = try (RewriteStage().address("https://a.example/1"), RewriteStage().address("https://a.example/a%20b.jpg"))
    #expect(twin.contains(#""url":"\#(sw)","fallback_url":"\#(sw)""#), "\(twin) \(generic)")
    let alone = candidateLine(#""image":" \/\/a.example\/a b.jpg\n""#)
    #expect(try RewriteStage().rewrite(alone) == candidateLine(#""image":"\#(generic)""#))
  }
}
