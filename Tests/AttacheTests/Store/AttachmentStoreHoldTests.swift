@testable import Attache
import Glibc
import Testing

@Suite struct AttachmentStoreHoldTests {
  let folder = AttachmentStoreTestFolder()
  let outside = AttachmentStoreTestFolder()
  let clock = TestWallClock()

  /// A queue that exists.
  private var queue: HoldOwner {
    outside.makeFolder("queue")
    return .init(kind: "sqlite", path: outside["queue"])
  }

  private func store(maximumBytes: Int64 = 1000, maximumAge: Duration = .seconds(3600)) throws -> AttachmentStore {
    try AttachmentStore(directory: folder.path, maximumBytes: maximumBytes, maximumAge: maximumAge) { [clock] in clock.now }
  }

  private func removeAll(_ paths: [String]) {
    for path in paths { unsafe unlink(path) }
  }

  private func inode(_ path: String) -> UInt64? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  @Test func `a held file is never evicted, and goes when it is held no more`() throws {
    let store = try store(maximumBytes: 0, maximumAge: .seconds(1))
    let files = try [store.add([1]), store.add([2])]
    let links = try store.hold([files[0]], for: queue)
    clock.turn(by: .seconds(100_000))
    #expect(try store.prune()?.filesRemoved == 1)
    #expect(store.touch(files[0]))
    removeAll(links)
    clock.turn(by: .seconds(100_000))
    #expect(try store.prune()?.filesRemoved == 1)
    #expect(!store.touch(files[0]))
  }

  @Test func `a hold is a link to the file itself, in a folder that says whose it is`() throws {
    let store = try store()
    let file = try store.add([1, 2, 3])
    let links = try store.hold([file, file], for: queue)
    #expect(links.count == 1)
    #expect(links[0].hasPrefix(folder.path + "/.held/"))
    #expect(links[0].hasSuffix("/\(file.sha256).png"))
    #expect(inode(links[0]) == inode(folder[file.relativePath]))
    let name = String(links[0].dropFirst(folder.path.utf8.count + 1).dropLast(file.sha256.utf8.count + 4))
    #expect(folder.bytes(name + "queue") == Array(outside["queue"].utf8))
  }

  @Test func `holding twice is holding once`() throws {
    let store = try store()
    let file = try store.add([1])
    let links = try store.hold([file], for: queue)
    #expect(try store.hold([file], for: queue) == links)
    removeAll(links)
    clock.turn(by: .seconds(100_000))
    #expect(try store.prune()?.filesRemoved == 1)
  }

  @Test func `two queues hold by themselves`() throws {
    let store = try store(maximumAge: .seconds(1))
    let file = try store.add([1])
    outside.makeFolder("other")
    removeAll(try store.hold([file], for: queue))
    let links = try store.hold([file], for: .init(kind: "sqlite", path: outside["other"]))
    clock.turn(by: .seconds(100_000))
    #expect(try store.prune()?.filesKept == 1)
    removeAll(links)
    #expect(try store.prune()?.filesRemoved == 1)
  }

  @Test func `what was evicted elsewhere comes back from its hold`() throws {
    let store = try store()
    let file = try store.add([1])
    let links = try store.hold([file], for: queue)
    folder.remove(file.relativePath)
    #expect(!store.touch(file))
    #expect(try store.hold([file], for: queue) == links)
    #expect(inode(links[0]) == inode(folder[file.relativePath]))
  }

  @Test func `a hold of an earlier file gives way to the one that the store has now`() throws {
    let store = try store()
    let file = try store.add([1])
    let links = try store.hold([file], for: queue)
    folder.remove(file.relativePath)
    _ = try store.add([1])
    #expect(inode(links[0]) != inode(folder[file.relativePath]))
    #expect(try store.hold([file], for: queue) == links)
    #expect(inode(links[0]) == inode(folder[file.relativePath]))
    #expect(folder.files.allSatisfy { !$0.hasPrefix("tmp/") })
  }

  @Test func `what is not there cannot be held`() throws {
    let store = try store()
    let file = try store.add([1])
    folder.remove(file.relativePath)
    let error = #expect(throws: StoreError.self) { try store.hold([file], for: queue) }
    #expect(error?.call.code == ENOENT)
    #expect(error?.call.path.hasSuffix(file.relativePath) == true)
  }

  @Test func `a file that is held after it was listed is not evicted`() throws {
    let (store, other) = (try store(), try store())
    let file = try store.add([1])
    let name = file.name
    let listed = StoreEviction.Entry(name: name, size: 1, lastUse: clock.now - .seconds(100))
    _ = try other.hold([file], for: queue)
    folder.setLastUse(file.relativePath, listed.lastUse)
    #expect(!store.evict(listed))
    #expect(store.touch(file))
  }

  @Test func `a file that another process uses after a prune has looked at it stays`() throws {
    let (store, other) = (try store(), try store())
    let file = try store.add([1])
    let name = file.name
    let listed = StoreEviction.Entry(name: name, size: 1, lastUse: clock.now - StoreEviction.precision * 3)
    folder.setLastUse(file.relativePath, listed.lastUse)
    #expect(other.touch(file))
    let subfolder = try store.root.folder(name.folder)
    #expect(!store.remove(listed, from: subfolder))
    #expect(other.touch(file))
    folder.setLastUse(file.relativePath, listed.lastUse)
    #expect(store.remove(listed, from: subfolder))
    #expect(!other.touch(file))
  }

  @Test func `whoever evicts and whoever holds at the same time leave a held file under its name`() async throws {
    let (store, other, queue) = (try store(), try store(), queue)
    let old = clock.now - StoreEviction.precision * 3
    for round in 0..<300 {
      let file = try store.add([UInt8(round & 0xff), UInt8(round >> 8)])
      let listed = StoreEviction.Entry(name: file.name, size: 2, lastUse: old)
      folder.setLastUse(file.relativePath, old)
      async let links = try? other.hold([file], for: queue)
      let isEvicted = store.evict(listed)
      if let link = await links?.first {
        #expect(inode(link) != nil)
        #expect(inode(link) == inode(folder[file.relativePath]))
      } else {
        #expect(isEvicted)
      }
    }
  }

  @Test func `the holds of a queue that has been gone for a week are removed`() throws {
    let store = try store(maximumAge: .seconds(1))
    let files = try [store.add([1]), store.add([2])]
    outside.makeFolder("gone")
    _ = try store.hold([files[0]], for: .init(kind: "sqlite", path: outside["gone"]))
    let kept = try store.hold([files[1]], for: queue)
    outside.remove("gone")
    clock.turn(by: .seconds(100_000))
    #expect(try store.prune()?.filesRemoved == 0)
    clock.turn(by: StoreHolds.missingTimeLimit - .seconds(1))
    #expect(try store.prune()?.filesRemoved == 0)
    clock.turn(by: .seconds(1))
    #expect(try store.prune()?.filesRemoved == 1)
    #expect(!store.touch(files[0]))
    #expect(inode(kept[0]) == inode(folder[files[1].relativePath]))
    #expect(folder.files.filter { $0.hasPrefix(".held/") }.count == 2)
  }

  @Test func `a queue that is seen again within the week keeps its holds, however often it is out of sight`() throws {
    let store = try store(maximumAge: .seconds(1))
    outside.makeFolder("gone")
    let name = HoldOwner(kind: "sqlite", path: outside["gone"])
    let file = try store.add([1])
    _ = try store.hold([file], for: name)
    for isSeenByPrune in [true, false] {
      outside.move("gone", to: "elsewhere")
      try store.prune()
      clock.turn(by: StoreHolds.missingTimeLimit - .seconds(1))
      outside.move("elsewhere", to: "gone")
      // Either a prune that sees the path, or a worker that uses the holds.
      if isSeenByPrune { try store.prune() } else { _ = try store.lockHolds(of: name) }
    }
    outside.remove("gone")
    try store.prune()
    clock.turn(by: .seconds(3_600))
    try store.prune()
    #expect(store.touch(file))
  }

  @Test func `a wall clock that was set back does not shorten the week`() throws {
    let store = try store(maximumAge: .seconds(1))
    outside.makeFolder("gone")
    let file = try store.add([1])
    _ = try store.hold([file], for: .init(kind: "sqlite", path: outside["gone"]))
    outside.remove("gone")
    clock.turn(by: .seconds(100_000_000))
    try store.prune()
    clock.turn(by: .seconds(-100_000_000))
    try store.prune()
    clock.turn(by: .seconds(3_600))
    try store.prune()
    #expect(store.touch(file))
  }

  @Test func `what somebody else put among the holds stays`() throws {
    let store = try store()
    outside.makeFolder("gone")
    let link = try store.hold([store.add([1])], for: .init(kind: "sqlite", path: outside["gone"]))[0]
    outside.remove("gone")
    let name = String(link.dropFirst(folder.path.utf8.count + 1).prefix(".held/".count + 32))
    folder.write([1], to: name + "/notes")
    folder.makeFolder(".held/mine")
    folder.write([1], to: ".held/mine/notes")
    try store.prune()
    clock.turn(by: StoreHolds.missingTimeLimit)
    try store.prune()
    #expect(
      folder.files.filter { $0.hasPrefix(".held/") } == [name + "/missing", name + "/notes", name + "/queue", ".held/mine/notes"].sorted())
  }

  @Test func `two queues that have been at one path hold by themselves`() throws {
    let store = try store()
    let file = try store.add([1])
    let links = try store.hold([file], for: queue)
    outside.move("queue", to: "first")
    #expect(try store.hold([file], for: queue) != links)
    #expect(inode(links[0]) == inode(folder[file.relativePath]))
  }

  @Test func `one queue is one, however its path is written`() throws {
    let store = try store()
    let file = try store.add([1])
    let links = try store.hold([file], for: queue)
    outside.link("link", to: "queue")
    #expect(try store.hold([file], for: .init(kind: "sqlite", path: outside["link"])) == links)
    #expect(try store.hold([file], for: .init(kind: "sqlite", path: outside["queue/../queue"])) == links)
    #expect(try store.hold([file], for: .init(kind: "other", path: outside["queue"])) != links)
  }

  @Test func `a prune that only held files keep from being done is not due again at once`() throws {
    let store = try store(maximumAge: .seconds(10_000))
    _ = try store.hold([store.add([1])], for: queue)
    clock.turn(by: .seconds(100_000))
    try store.prune()
    clock.turn(by: .seconds(3599))
    #expect(!store.needsPruning)
    clock.turn(by: .seconds(1))
    #expect(store.needsPruning)
  }

  @Test func `whoever removes holds waits for those who share the lock`() throws {
    let store = try store()
    let locks: [any Sendable] = try (0..<2).map { _ in try store.lockHolds(of: queue) }
    let held = try String(#require(store.hold([store.add([1])], for: queue).first).dropLast(69))
    let descriptor = unsafe open(held, O_RDONLY)
    defer { close(descriptor) }
    withExtendedLifetime(consume locks) { #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
  }

  @Test(.enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting a file system needs root"))
  func `a full disk, a read-only one and one without links are errors that say so`() throws {
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    let store = try AttachmentStore(directory: folder["disk"], maximumBytes: 1_000_000, maximumAge: .seconds(1))
    let file = try store.add([1])
    disk.turnReadOnly()
    let error = #expect(throws: StoreError.self) { try store.hold([file], for: queue) }
    #expect(error?.reason == .storeReadOnly)
    #expect(
      StoreError("link", "/a/b", code: EPERM).description
        == "cannot link /a/b: Operation not permitted (errno 1); a queue holds attachments by hard links, "
        + "which that file system or that file's owner does not allow: choose another --store")
    #expect(
      StoreError("link", "/a/b", code: EMLINK).description
        == "cannot link /a/b: Too many links (errno 31); too many unread results hold that file: read or purge results")
    #expect(StoreError("link", "/a/b", code: ENOSPC).reason == .storeFull)
  }
}
