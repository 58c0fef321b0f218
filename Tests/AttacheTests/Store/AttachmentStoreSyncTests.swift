@testable import Attache
import Synchronization
import Testing

@Suite struct AttachmentStoreSyncTests {
  private let names = (0..<3).map { StoreName(digest: [UInt8](repeating: $0, count: 32), type: .png) }

  @Test func `files are synced with their folders and what holds them`() throws {
    let (folder, outside) = (AttachmentStoreTestFolder(), AttachmentStoreTestFolder())
    let store = try folder.store()
    let files = try [store.add([1]), store.add([2]), store.add([1])]
    _ = try store.hold(files, for: .init(kind: "sqlite", path: outside.path))
    #expect(syncs(of: store).holds.count == 1)
    try store.sync(files)
    let syncs = syncs(of: store)
    #expect(syncs.holds.isEmpty)
    for file in files {
      let name = file.name
      #expect(syncs.isKnown(name, now: store.clock()))
    }
  }

  private func syncs(of store: AttachmentStore) -> FsyncCache {
    store.ledger.withLock { $0.syncs }
  }

  @Test func `a file that was synced is not even looked at again, until another may have its name`() throws {
    let folder = AttachmentStoreTestFolder()
    let store = try folder.store()
    let file = try store.add([1])
    try store.sync([file])
    folder.remove(file.relativePath)
    try store.sync([file])
    _ = try store.add([1])
    folder.remove(file.relativePath)
    let error = #expect(throws: StoreError.self) { try store.sync([file]) }
    #expect(error?.call.path.hasSuffix(file.relativePath) == true)
  }

  @Test func `a sync is trusted for five minutes, and not after the clock was set back`() {
    var syncs = FsyncCache()
    syncs.note(names.prefix(1), holds: [:], now: .seconds(1000))
    #expect(syncs.isKnown(names[0], now: .seconds(1000)))
    #expect(!syncs.isKnown(names[1], now: .seconds(1000)))
    #expect(syncs.isKnown(names[0], now: .seconds(1299)))
    #expect(!syncs.isKnown(names[0], now: .seconds(1300)))
    #expect(!syncs.isKnown(names[0], now: .seconds(999)))
  }

  @Test func `a link that was made during a sync is synced by the next one`() {
    var syncs = FsyncCache()
    syncs.noteHold(in: "a")
    syncs.noteHold(in: "b")
    let before = syncs.holds
    syncs.noteHold(in: "b")
    syncs.note([], holds: before, now: .zero)
    #expect(syncs.holds.keys.sorted() == ["b"])
  }

  @Test func `what is remembered has a bound`() {
    var syncs = FsyncCache()
    for number in 0..<10_000 {
      let digest = [UInt8(number & 0xff), UInt8(number >> 8)] + [UInt8](repeating: 9, count: 30)
      syncs.note([StoreName(digest: digest, type: .png)], holds: [:], now: .zero)
    }
    #expect(syncs.count <= FsyncCache.maximumCount)
    syncs.note(names, holds: [:], now: .zero)
    #expect(names.allSatisfy { syncs.isKnown($0, now: .zero) })
  }
}
