import Attache
import Testing

/// SHA-256 of "abc", from FIPS 180-2, appendix B.1.
private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

@Suite struct AttachmentStoreTests {
  let folder = AttachmentStoreTestFolder()

  @Test func `a file is named after the hash of its content and its type`() throws {
    let stored = try folder.store().add(Array("abc".utf8), as: .jpeg)
    #expect(stored == StoredFile(sha256: abc, type: .jpeg, size: 3))
    #expect(folder.files == ["ba/\(abc).jpg"])
    #expect(folder.bytes(stored.relativePath) == Array("abc".utf8))
  }

  @Test func `bytes that come in pieces make the same file`() throws {
    let file = try folder.store().beginFile()
    try file.append(Array("a".utf8))
    try file.append([])
    try file.append(Array("bc".utf8))
    #expect(file.size == 3)
    #expect(try file.finish(type: .png).sha256 == abc)
    #expect(folder.bytes("ba/\(abc).png") == Array("abc".utf8))
  }

  @Test func `a file is not in the store before it is finished`() throws {
    let file = try folder.store().beginFile()
    try file.append([1])
    #expect(folder.files.allSatisfy { $0.hasPrefix("tmp/") })
    #expect(folder.files.count == 1)
  }

  @Test func `a discarded file leaves nothing and takes nothing more`() throws {
    let file = try folder.store().beginFile()
    try file.append([1])
    file.discard()
    #expect(folder.files.isEmpty)
    #expect(throws: StoreError.self) { try file.append([1]) }
    #expect(throws: StoreError.self) { try file.finish(type: .png) }
  }

  @Test func `a file that its owner lets go of leaves nothing`() throws {
    let store = try folder.store()
    try store.beginFile().append([1])
    #expect(folder.files.isEmpty)
  }

  @Test func `the same content twice is one file`() throws {
    let store = try folder.store()
    let first = try store.add([1, 2, 3])
    #expect(try store.add([1, 2, 3]) == first)
    #expect(folder.files == [first.relativePath])
  }

  @Test func `a damaged file of the same name is replaced`() throws {
    let store = try folder.store()
    let stored = try store.add([1, 2, 3])
    folder.write([1], to: stored.relativePath)
    #expect(!store.touch(stored))
    _ = try store.add([1, 2, 3])
    #expect(store.touch(stored))
    #expect(folder.bytes(stored.relativePath) == [1, 2, 3])
  }

  @Test func `a file that is gone is not there to be used again`() throws {
    let store = try folder.store()
    let stored = try store.add([1])
    #expect(store.touch(stored))
    folder.remove(stored.relativePath)
    #expect(!store.touch(stored))
    #expect(try !store.touch(#require(StoredFile(sha256: abc, type: .png, size: 3))))
  }

  @Test func `a subfolder that somebody removed comes back`() throws {
    let store = try folder.store()
    let stored = try store.add([1])
    folder.remove(stored.relativePath)
    folder.remove(String(stored.sha256.prefix(2)))
    _ = try store.add([1])
    #expect(store.touch(stored))
  }

  @Test(arguments: ["", "..", "../../etc/passwd", String(repeating: "A", count: 64), String(repeating: "a", count: 65)])
  func `a text that is no hash names no file`(sha256: String) {
    #expect(StoredFile(sha256: sha256, type: .png, size: 0) == nil)
  }

  @Test func `the base URL is absolute, without symbolic links, and percent-encoded`() throws {
    folder.makeFolder("a b#ü%")
    folder.link("link", to: "a b#ü%")
    let store = try AttachmentStore(directory: folder["link/../link/"], maximumBytes: 1, maximumAge: .zero)
    #expect(store.baseURL == "file://\(folder.path)/a%20b%23%C3%BC%25/")
  }
}
