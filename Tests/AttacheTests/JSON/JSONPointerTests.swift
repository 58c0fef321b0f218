import Attache
import Testing

struct JSONPointerTests {
  @Test(arguments: [
    ("/data/image", JSONPointer("data", "image")), ("/", JSONPointer("")), ("/a~1b/c~0d", JSONPointer("a/b", "c~d")),
    ("/~01", JSONPointer("~1")), ("/a//b", JSONPointer("a", "", "b")), ("/a/", JSONPointer("a", "")),
    ("/gcm.notification.image", JSONPointer("gcm.notification.image")), ("/ä ö", JSONPointer("ä ö")),
  ])
  func `a pointer is read as RFC 6901 says`(text: String, expected: JSONPointer) throws {
    #expect(try JSONPointer(pointer: text) == expected)
    #expect(try JSONPointer(path: text) == expected)
    #expect(expected.description == text)
  }

  @Test(arguments: [
    ("image", JSONPointer("image")), ("data.image", JSONPointer("data", "image")),
    ("attachments.0.url", JSONPointer("attachments", "0", "url")),
    ("my-image", JSONPointer("my-image")), ("a/b.c~d", JSONPointer("a/b", "c~d")),
  ])
  func `a dotted path is split at its dots`(text: String, expected: JSONPointer) throws {
    #expect(try JSONPointer(path: text) == expected)
  }

  @Test func `the empty pointer is the whole and the empty path an error`() throws {
    #expect(try JSONPointer(pointer: "") == JSONPointer())
    #expect(throws: JSONPointerError.empty) { try JSONPointer(path: "") }
  }

  @Test(arguments: ["/a~", "/~2", "/a~b/c", "/~/x"])
  func `a tilde that escapes nothing is refused`(text: String) {
    #expect(throws: JSONPointerError.tilde(text)) { try JSONPointer(pointer: text) }
    #expect(throws: JSONPointerError.tilde(text)) { try JSONPointer(path: text) }
  }

  @Test(arguments: [".", "a.", ".a", "a..b"])
  func `a dotted path with an empty part is refused`(text: String) {
    #expect(throws: JSONPointerError.emptyPart(text)) { try JSONPointer(path: text) }
  }

  @Test func `a pointer that starts without a slash is refused`() {
    #expect(throws: JSONPointerError.noSlash("data.image")) { try JSONPointer(pointer: "data.image") }
  }

  @Test(arguments: [JSONPointerError.empty, .noSlash("x"), .tilde("/x~"), .emptyPart("x.")])
  func `every error says what to write`(error: JSONPointerError) {
    #expect(error.description.contains("/") && error.description.count > 40)
  }
}
