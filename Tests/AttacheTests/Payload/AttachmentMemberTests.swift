import Testing

@testable import Attache

struct AttachmentMemberTests {
  let hash = String(repeating: "3f", count: 32)

  @Test func `the member is written as the output section shows it`() throws {
    let options = AttachmentOptions(
      thumbnailHidden: true, thumbnailClippingRect: ClippingRect(x: 0, y: 0.25, width: 1, height: 0.5), thumbnailTime: 1.5)
    let member = AttachmentMember(baseURL: "file:///var/store/")
    let text =
      #""attache":{"attachments":[{"identifier":"hero","url":"file:///var/store/3f/\#(hash).png","type":"public.png","#
      + #""mime":"image/png","size":48213,"sha256":"\#(hash)","source":"https://a.example/1","#
      + #""options":{"thumbnailHidden":true,"thumbnailClippingRect":{"x":0,"y":0.25,"width":1,"height":0.5},"thumbnailTime":1.5}}]}"#
    #expect(string(member.bytes(for: [try attachment("hero", options)])) == text)
  }

  @Test func `options stand there only when they were asked for`() throws {
    let member = AttachmentMember(key: "k\"", baseURL: "https://cdn.example/push")
    let text = string(member.bytes(for: [try attachment("a"), try attachment("b")]))
    #expect(text.hasPrefix(#""k\"":{"attachments":[{"identifier":"a","url":"https://cdn.example/push/3f/"#))
    #expect(text.contains(#"},{"identifier":"b","#))
    #expect(!text.contains("options"))
    let hidden = string(AttachmentMember(baseURL: "/").bytes(for: [try attachment("a", AttachmentOptions(thumbnailHidden: false))]))
    #expect(hidden.contains(#""options":{"thumbnailHidden":false}"#))
  }

  @Test(arguments: [
    ("/var/store", "file:///var/store/"), ("/var/store/", "file:///var/store/"),
    ("/home/zoë/a b%#?", "file:///home/zo%C3%AB/a%20b%25%23%3F/"),
    ("/", "file:///"), ("/a\n\"'~._-", "file:///a%0A%22%27~._-/"),
  ])
  func `a directory's URL is percent-encoded`(path: String, url: String) {
    #expect(AttachmentStore.fileURL(ofPath: Array(path.utf8)) == url)
  }

  private func attachment(_ identifier: UntrustedText, _ options: AttachmentOptions = AttachmentOptions()) throws -> Attache.Attachment {
    Attache.Attachment(
      identifier: identifier, file: try #require(StoredFile(sha256: hash, type: .png, size: 48213)), source: "https://a.example/1",
      options: options)
  }

  private func string(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
