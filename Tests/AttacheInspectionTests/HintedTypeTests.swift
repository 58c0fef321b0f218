import Testing

@testable import Attache
@testable import AttacheInspection

/// When a type hint and an extension contradict each other.
struct HintedTypeTests {
  private func agrees(_ hint: String, _ fileExtension: String) -> Bool? {
    let reference = MediaReference(url: "https://cdn.example/a.\(fileExtension)", typeHint: UntrustedText(hint))
    guard let hint = HintedType(of: reference), let type = HintedType(fileExtension: fileExtension) else { return nil }
    return hint.agrees(with: type)
  }

  @Test(arguments: [
    ("public.jpeg", "jpg"), ("jpg", "jpeg"), (".JPG", "jpe"), ("image/jpeg", "jpg"), ("image/jpg", "jpg"), ("image/*", "png"),
    ("image", "gif"),
    ("IMAGE", "webp"), ("image/webp", "webp"), ("public.movie", "mov"), ("video/mpeg", "m2v"), ("audio/mpeg; q=1", "mp3"),
    ("audio/x-caf", "caf"), ("image/vnd.x", "png"),
  ])
  func `these say the same`(hint: String, fileExtension: String) {
    #expect(agrees(hint, fileExtension) == true)
  }

  @Test func `a vendor's own word says what its dialect knows`() {
    let payload = #"{"aps":{"alert":"Hi","mutable-content":1},"attachment":{"url":"https://cdn.example/a.jpg","content-type":"mpeg4"}}"#
    #expect(inspect(one: payload).findings.map(\.code) == [.typeContradiction])
  }

  @Test(arguments: [
    ("public.png", "jpg"), ("video", "jpg"), ("image/png", "gif"), ("audio/mp4", "mp4"), ("mp4", "m4a"), ("image/webp", "jpg"),
    ("mov", "mp4"),
  ])
  func `these do not`(hint: String, fileExtension: String) {
    #expect(agrees(hint, fileExtension) == false)
  }

  @Test(arguments: ["", "banana", "1", "com.example.type", "text/html"])
  func `a hint that nobody knows says nothing`(hint: String) {
    #expect(agrees(hint, "jpg") == nil)
  }

  @Test(arguments: [
    ("https://a.example/b.JPG?x=.png#.gif", "jpg"), ("https://a.example/b.c/d.png", "png"), ("a.mp4", "mp4"),
  ])
  func `the extension is that of the path`(url: String, fileExtension: String) {
    #expect(FileExtension.of(UntrustedText(url)) == fileExtension)
  }

  @Test(arguments: [
    "https://a.jpg", "https://a.example/b.c/d", "https://a.example/a.", "https://a.example/a.%6Ap", "", "https://a.example/a.toolongone",
  ])
  func `what is no extension is none`(url: String) {
    #expect(FileExtension.of(UntrustedText(url)) == nil)
  }
}
