@testable import Attache
import Glibc
import Testing

@Suite struct AttachmentStorePruningTests {
  let folder = AttachmentStoreTestFolder()
  let clock = TestWallClock()

  private func store(maximumBytes: Int64 = 1000, maximumAge: Duration = .seconds(3600)) throws -> AttachmentStore {
    try AttachmentStore(directory: folder.path, maximumBytes: maximumBytes, maximumAge: maximumAge) { [clock] in clock.now }
  }

  /// Stores files of 100 bytes. Each was last used ten seconds after the previous one, and the last
  /// a hundred seconds ago.
  private func fill(_ store: AttachmentStore, files: Int) throws -> [StoredFile] {
    try (0..<files).map { number in
      let stored = try store.add([UInt8](repeating: UInt8(number), count: 100))
      folder.setLastUse(stored.relativePath, clock.now - .seconds(100 + 10 * (files - 1 - number)))
      return stored
    }
  }

  private func paths(_ files: some Sequence<StoredFile>) -> [String] {
    files.map(\.relativePath).sorted()
  }

  @Test func `the least recently used files go when the store is too large`() throws {
    let store = try store(maximumBytes: 500)
    let files = try fill(store, files: 6)
    let summary = try #require(try store.prune())
    #expect((summary.filesRemoved, summary.bytesRemoved) == (2, 200))
    #expect((summary.filesKept, summary.bytesKept) == (4, 400))
    #expect(folder.files == paths(files[2...]))
  }

  @Test func `a file that was used again is no longer the least recently used`() throws {
    let store = try store(maximumBytes: 500)
    let files = try fill(store, files: 6)
    #expect(store.touch(files[0]))
    _ = try store.add([UInt8](repeating: 1, count: 100))
    try store.prune()
    #expect(folder.files == paths([files[0], files[1], files[4], files[5]]))
  }

  @Test func `files go when they come of age`() throws {
    let store = try store(maximumAge: .seconds(3600))
    let files = try fill(store, files: 3)
    #expect(try store.prune()?.filesRemoved == 0)
    clock.turn(by: .seconds(3600 - 105))
    #expect(try store.prune()?.filesRemoved == 2)
    #expect(folder.files == paths([files[2]]))
  }

  @Test func `a pinned file stays until it is unpinned as often as it was pinned`() throws {
    let store = try store(maximumAge: .seconds(1))
    let file = try fill(store, files: 1)[0]
    store.pin(file)
    store.pin(file)
    #expect(try store.prune()?.filesKept == 1)
    store.unpin(file)
    #expect(try store.prune()?.filesKept == 1)
    store.unpin(file)
    #expect(try store.prune()?.filesRemoved == 1)
    #expect(folder.files.isEmpty)
  }

  @Test func `a file is pinned from the moment it is finished`() throws {
    let store = try store(maximumBytes: 0)
    let file = try store.beginFile()
    try file.append([1])
    let stored = try file.finish(type: .png)
    #expect(try store.prune()?.filesKept == 1)
    store.unpin(stored)
    #expect(try store.prune()?.filesRemoved == 1)
  }

  @Test func `a file that is used after it was listed is not evicted`() throws {
    let store = try store()
    let file = try fill(store, files: 1)[0]
    let name = file.name
    let listed = StoreEviction.Entry(name: name, size: 100, lastUse: clock.now - .seconds(100))
    #expect(store.touch(file))
    #expect(!store.evict(listed))
    folder.setLastUse(file.relativePath, listed.lastUse)
    store.pin(file)
    #expect(!store.evict(listed))
    store.unpin(file)
    #expect(store.evict(listed))
    #expect(store.evict(listed), "it is already gone")
  }

  @Test(arguments: [(0, false), (59, false), (61, true), (-60, true)])
  func `the time of a file is set if it is more than a minute old, or in the future`(age: Int, isSet: Bool) throws {
    let store = try store()
    let file = try fill(store, files: 1)[0]
    let (before, now) = (clock.now - .seconds(age), clock.now)
    folder.setLastUse(file.relativePath, before)
    #expect(store.touch(file))
    let subfolder = try store.root.folder(file.name.folder)
    let lastUse = try #require(subfolder.status(of: file.name.fileName)?.lastUse)
    #expect((lastUse != before) == isSet)
    #expect(now - lastUse < .seconds(60))
  }

  @Test func `a file that another process may have used a moment ago is not evicted`() throws {
    let store = try store()
    let file = try fill(store, files: 1)[0]
    let listed = StoreEviction.Entry(name: file.name, size: 100, lastUse: clock.now - .seconds(30))
    folder.setLastUse(file.relativePath, listed.lastUse)
    var other: AttachmentStore? = try self.store()
    #expect(try #require(other).touch(file))
    #expect(!store.evict(listed))
    #expect(store.touch(file))
    other = nil
    #expect(store.evict(listed))
  }

  @Test func `what another process used in the last minute stays while that process lives`() throws {
    let mine = try store(maximumBytes: 0)
    let theirs = try store()
    let old = try theirs.add([1])
    let fresh = try theirs.add([2])
    folder.setLastUse(old.relativePath, clock.now - .seconds(661))
    folder.setLastUse(fresh.relativePath, clock.now - .seconds(659))
    #expect(try mine.prune()?.filesRemoved == 1)
    #expect(folder.files == [fresh.relativePath])
    withExtendedLifetime(theirs) {}
  }

  @Test func `what another process used in the last minute goes when that process is dead`() throws {
    let mine = try store(maximumBytes: 0)
    let fresh = try store().add([2])
    folder.setLastUse(fresh.relativePath, clock.now - .seconds(599))
    #expect(try mine.prune()?.filesRemoved == 1)
  }

  @Test func `what does not bear one of the store's names stays`() throws {
    let store = try store(maximumBytes: 0, maximumAge: .zero)
    let hash = String(repeating: "0", count: 64)
    for name in ["00", "0", "notes", "zz", "00/\(hash).gif"] { folder.makeFolder(name) }
    let foreign = ["00/\(hash).svg", "00/cat.png", "01", "notes/\(hash).png", "zz/\(hash).png", "README"]
    for name in foreign { folder.write([1], to: name) }
    folder.link("00/\(hash).png", to: "cat.png")
    folder.write([1], to: "00/\(hash).jpg")
    clock.turn(by: .seconds(10))
    let summary = try #require(try store.prune())
    #expect((summary.filesRemoved, summary.filesKept) == (1, 0))
    #expect(folder.files == (foreign + ["00/\(hash).png"]).sorted())
  }

  @Test func `one process prunes at a time`() throws {
    let store = try store(maximumBytes: 0)
    _ = try fill(store, files: 1)
    let other = unsafe open(folder["tmp"], O_RDONLY | O_DIRECTORY)
    #expect(flock(other, LOCK_EX) == 0)
    #expect(try store.prune() == nil)
    #expect(!store.needsPruning)
    close(other)
    clock.turn(by: .seconds(60))
    #expect(store.needsPruning)
    #expect(try store.prune()?.filesRemoved == 1)
  }

  @Test func `a prune is due at the start, and then when the store has grown too large`() throws {
    let store = try store(maximumBytes: 500)
    #expect(store.needsPruning)
    try store.prune()
    #expect(!store.needsPruning)
    _ = try fill(store, files: 5)
    #expect(!store.needsPruning)
    _ = try store.add([1])
    #expect(store.needsPruning)
    try store.prune()
    #expect(!store.needsPruning)
  }

  @Test func `content that is there already does not count twice`() throws {
    let store = try store(maximumBytes: 500)
    try store.prune()
    for _ in 0..<10 { _ = try store.add([UInt8](repeating: 1, count: 100)) }
    #expect(!store.needsPruning)
  }

  @Test func `a prune is due when the oldest file comes of age`() throws {
    let store = try store(maximumAge: .seconds(1000))
    _ = try fill(store, files: 1)
    try store.prune()
    clock.turn(by: .seconds(899))
    #expect(!store.needsPruning)
    clock.turn(by: .seconds(1))
    #expect(store.needsPruning)
  }

  @Test func `a prune is due after an hour, since other processes may have added files`() throws {
    let store = try store(maximumAge: .seconds(100_000))
    try store.prune()
    clock.turn(by: .seconds(3599))
    #expect(!store.needsPruning)
    clock.turn(by: .seconds(1))
    #expect(store.needsPruning)
  }

  @Test func `a store that cannot shrink is not read through again for every file`() throws {
    let store = try store(maximumBytes: 160)
    let files = try fill(store, files: 2)
    files.forEach(store.pin)
    #expect(try store.prune()?.bytesKept == 200)
    _ = try store.add([UInt8](repeating: 9, count: 10))
    #expect(!store.needsPruning)
    _ = try store.add([9])
    #expect(store.needsPruning)
  }
}
