@testable import Attache
@testable import AttacheQueue
import Foundation
import Glibc
import Synchronization
import Testing

/// The attachments that a worker holds in the store before and after its results are in the queue.
@Suite(.timeLimit(.minutes(1))) struct QueueWorkerHoldTests {
  private func attaching(_ file: StoredFile, of rig: WorkerRig) -> WorkerRig.Serve {
    { request, answer in
      var content = request.content
      rig.store.pin(file)
      content.attachments = [Attachment(identifier: "one", file: file, source: "https://origin.test/1.jpg", options: AttachmentOptions())]
      answer.offer(.content(content))
    }
  }

  private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  @Test func `a result is in the queue only once its file and its hold are on disk`() throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let file = try rig.file("picture")
    let unsynced = Mutex<[String: Int]?>(nil)
    queue.before(.finish) { unsynced.withLock { $0 = rig.store.ledger.withLock(\.syncs.holds) } }
    _ = try rig.worker(on: queue, { $0.sync = .always }, serve: attaching(file, of: rig)).run()
    #expect(unsynced.withLock { $0 } == [:])
    #expect(try queue.markRead([1]).count == 1)
  }

  @Test func `a result whose files are in a bucket holds none`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    _ = try rig.worker(on: queue, { $0.holdsFiles = false }, serve: attaching(try rig.file("picture"), of: rig)).run()
    #expect(try queue.counts()[.done] == 1)
    #expect(try queue.markRead([1]).isEmpty)
    #expect(rig.store.ledger.withLock(\.syncs.holds) == [:])
  }

  @Test(arguments: QueueBackend.holding)
  func `a worker removes the holds of one that was killed before its result was in the queue`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let owner = try #require(rig.queue.location.holdOwner)
    let (kept, left) = (try rig.file("kept"), try rig.file("left"))
    _ = try rig.worker(on: queue, serve: attaching(kept, of: rig)).run()
    let leaked = try #require(try rig.store.hold([left], for: owner).first)
    _ = try queue.enqueue([NewPayload(WorkerLine.plain)])
    _ = try rig.worker(on: queue) { _, _ in }.run()
    #expect(!isThere(leaked))
    #expect(try rig.store.hold([kept], for: owner).allSatisfy(isThere))
    #expect(try queue.unlistedHolds([leaked]) == [leaked])
    #expect(try queue.markRead([1]).count == 1)
  }

  @Test func `a copy of a queue removes no hold of the queue itself`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    _ = try rig.worker(on: queue, serve: attaching(try rig.file("picture"), of: rig)).run()
    queue.close()
    let copy = QueueLocation.sqlite(path: rig.queue.folder + "/copy")
    try FileManager.default.copyItem(atPath: rig.queue.path, toPath: rig.queue.folder + "/copy")
    let owner = try #require(rig.queue.location.holdOwner)
    let left = try #require(try rig.store.hold([try rig.file("left")], for: owner).first)
    let opened = try copy.open(creates: false, sync: .off, clock: rig.queue.clock)
    #expect(try ReleasedHolds(of: opened).removeUnlisted(of: copy) == 0)
    #expect(isThere(left))
    #expect(try ReleasedHolds(of: opened).removeUnlisted(of: rig.queue.location) == 1)
    #expect(!isThere(left))
  }

  @Test(arguments: QueueBackend.holding)
  func `a queue at the path of another one, as in a second container, removes no hold of it`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let path = rig.queue.path
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let owner = try #require(rig.queue.location.holdOwner)
    _ = try rig.worker(on: queue, serve: attaching(try rig.file("picture"), of: rig)).run()
    let folder = rig.store.holdsFolder(of: owner)
    let links = try FileManager.default.contentsOfDirectory(atPath: folder)
    queue.close()
    try FileManager.default.moveItem(atPath: path, toPath: path + "-first")
    let other = try rig.queue.open(with: [WorkerLine.candidate(1)])
    #expect(rig.store.holdsFolder(of: owner) != folder)
    _ = try rig.worker(on: other, serve: attaching(try rig.file("picture"), of: rig)).run()
    #expect(try ReleasedHolds(of: other, in: folder).removeUnlisted(of: rig.queue.location) == 0)
    let released = try ReleasedHolds(of: other)
    try released.remove { () throws(QueueError) in try other.markRead([1]) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == links.sorted())
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.store.holdsFolder(of: owner)) == ["queue"])
  }

  @Test func `a worker of a queue on a server holds nothing`() throws {
    let rig = try WorkerRig()
    let location = QueueLocation(try ServerAddress(parsing: "server://db1"))
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    _ = try rig.worker(on: queue, { $0.queue = location }, serve: attaching(try rig.file("picture"), of: rig)).run()
    #expect(try queue.counts()[.done] == 1)
    #expect(try queue.markRead([1]).isEmpty)
    #expect(rig.store.ledger.withLock(\.syncs.holds) == [:])
  }

  @Test func `a hold that a worker is about to give a result stays`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: (0..<100).map { "\($0)" })
    let owner = try #require(rig.queue.location.holdOwner)
    let other = try rig.queue.open()
    let leases = try queue.lease()
    // The folder is there from the start.
    _ = try rig.store.hold([try rig.file("first")], for: owner)
    let hasEnded = DispatchSemaphore(value: 0)
    let isOver = Atomic<Bool>(false)
    let (folder, location) = (rig.store.holdsFolder(of: owner), rig.queue.location)
    Thread.detachNewThread {
      while !isOver.load(ordering: .relaxed) { _ = try? ReleasedHolds(of: other, in: folder).removeUnlisted(of: location) }
      hasEnded.signal()
    }
    var paths: [String] = []
    for (index, lease) in leases.enumerated() {
      let file = try rig.file("picture \(index)")
      let lock = try rig.store.lockHolds(of: owner)
      let holds = try rig.store.hold([file], for: owner)
      _ = try queue.finish([lease.finished(.attached, holds: holds)])
      withExtendedLifetime(lock) {}
      paths += holds
    }
    isOver.store(true, ordering: .relaxed)
    hasEnded.wait()
    #expect(paths.count == 100)
    #expect(paths.allSatisfy(isThere))
  }

  @Test func `one that waits to remove holds goes before workers that come after it`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: ["a"])
    let owner = try #require(rig.queue.location.holdOwner)
    var first: (any Sendable)? = try rig.store.lockHolds(of: owner)
    let path = try #require(try rig.store.hold([try rig.file("picture")], for: owner).first)
    try #expect(queue.finish([queue.leaseOne().finished(.attached, holds: [path])]) == [])
    let order = Mutex<[String]>([])
    let (removed, shared) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      if let holds = try? ReleasedHolds(of: queue) {
        try? holds.remove { () throws(QueueError) in
          order.withLock { $0.append("removed") }
          return try queue.markRead([1])
        }
      }
      removed.signal()
    }
    // It waits for the lock of the folder when its turn comes.
    let file = unsafe open(rig.store.holdsFolder(of: owner) + "/queue", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    while flock(file, LOCK_SH | LOCK_NB) == 0 { flock(file, LOCK_UN) }
    Thread.detachNewThread {
      let lock = try? rig.store.lockHolds(of: owner)
      order.withLock { $0.append("shared") }
      withExtendedLifetime(lock) {}
      shared.signal()
    }
    #expect(first != nil)
    first = nil
    removed.wait()
    shared.wait()
    #expect(order.withLock { $0 } == ["removed", "shared"])
    #expect(!isThere(path))
  }
}
