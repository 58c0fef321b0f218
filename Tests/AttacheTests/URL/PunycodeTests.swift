import Testing

@testable import Attache

@Suite struct PunycodeTests {
  /// RFC 3492, 7.1, and names in use.
  @Test(arguments: [
    ("egbpdaj6bu4bxfgehfvwxn", "ليهمابتكلموشعربي؟"), ("ihqwcrb4cv8a8dqg056pqjye", "他们为什么不说中文"),
    ("proprostnemluvesky-uyb24dma41a", "pročprostěnemluvíčesky"), ("bcher-kva", "bücher"), ("mnchen-3ya", "münchen"), ("fa-hia", "faß"),
    ("p1ai", "рф"), ("i-7iq", "i❤"), ("3b-ww4c5e180e575a65lsy2b", "3年b組金八先生"),
  ])
  func `a label decodes to its text`(label: String, text: String) throws {
    let scalars = try #require(Punycode.decode(Array(label.utf8)[...]))
    #expect(String(String.UnicodeScalarView(scalars)) == text)
  }

  @Test(arguments: ["0", "99999999", "a_b", "bcher-kv", "bcher-\u{7F}", "999999b", "zzzzzzzzzzzzzzz"])
  func `a label that means nothing is refused`(label: String) {
    #expect(Punycode.decode(Array(label.utf8)[...]) == nil)
  }
}
