import Attache
@testable import AttacheQueue
import Foundation
import Testing

/// What a process that was killed between two steps leaves, and what the next one does.
@Suite struct DropFolderKillTests {
  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// Lets the process end before a call of the queue.
  private func kill(_ folder: TestDropFolder, before call: HookedQueue.Call) throws {
    folder.queue.before(call) { () throws(QueueError) in throw .failed("killed") }
    #expect(throws: QueueError.failed("killed")) { try folder.takeIn() }
    folder.queue.before(call) {}
    try folder.restart()
  }

  @Test(arguments: QueueBackend.allCases)
  func `files that were moved and are not in the queue are added`(_ backend: QueueBackend) throws {
    let folder = try TestDropFolder(backend)
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    try kill(folder, before: .enqueueBatch)
    #expect(folder.names("in") == [] && folder.names("in.taken").count == 1)
    // Another file of the same name was dropped meanwhile.
    try folder.drop("another b", as: "b")
    #expect(try folder.lease().map(\.text) == ["a", "b", "another b"])
    #expect(folder.names("in.taken") == [])
  }

  @Test(arguments: QueueBackend.allCases, 0...2)
  func `files that are in the queue are not added again, however many were removed`(_ backend: QueueBackend, removed: Int) throws {
    let folder = try TestDropFolder(backend)
    try makeFolder(folder.path("in.taken/b1"))
    for name in ["a", "b"].dropFirst(removed) { try folder.drop(name, as: name, in: "in.taken/b1") }
    #expect(try folder.queue.enqueue([NewPayload("a"), NewPayload("b")], batch: "b1") == 2)
    try folder.drop("another b", as: "b")
    #expect(try folder.lease().map(\.text) == ["a", "b", "another b"])
    #expect([folder.names("in"), folder.names("in.taken")] == [[], []])
    // The record of the batch is gone.
    #expect(try folder.queue.enqueue([NewPayload("c")], batch: "b1") == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a batch whose record is left is forgotten`(_ backend: QueueBackend) throws {
    let folder = try TestDropFolder(backend)
    try folder.drop("a", as: "a")
    try kill(folder, before: .forgetBatch)
    let batch = try #require(folder.names("in.taken").first)
    #expect(folder.names("in.taken/" + batch) == [])
    #expect(try folder.queue.enqueue([NewPayload("again")], batch: batch) == 0)
    #expect(try folder.lease().map(\.text) == ["a"])
    #expect(folder.names("in.taken") == [])
    #expect(try folder.queue.enqueue([NewPayload("again")], batch: batch) == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `another queue gets no file of a batch that may be in the first`(_ backend: QueueBackend) throws {
    let folder = try TestDropFolder(backend)
    let second = try TestQueue(backend)
    let other = try second.open()
    try folder.drop("a", as: "a")
    try kill(folder, before: .enqueueBatch)
    try folder.drop("b", as: "b")
    for _ in 0..<2 {
      #expect {
        _ = try folder.opened(of: other).takeIn()
      } throws: { error in
        guard case .unavailable(let text)? = error as? QueueError else { return false }
        return text.contains("/in.taken: has files that were being added to sqlite:/first; add them there first, or, if")
      }
    }
    #expect(try other.counts().total == 0)
    #expect(folder.names("in") == ["b"])
    #expect(try folder.lease().map(\.text) == ["a", "b"])
    // Nothing is in transit, so the folder may have another queue.
    try folder.drop("c", as: "c")
    _ = try folder.opened(of: other).takeIn()
    #expect(try other.lease().map(\.text) == ["c"])
    try folder.drop("d", as: "d")
    #expect(try folder.lease().map(\.text) == ["d"])
  }

  @Test func `a lock file that somebody removed meanwhile is made anew, so that all use the same`() throws {
    let folder = try TestDropFolder()
    try folder.takeIn()
    try FileManager.default.removeItem(atPath: folder.path("in.queue"))
    try folder.drop("a", as: "a")
    #expect(try folder.lease().map(\.text) == ["a"])
    #expect(folder.names("").contains("in.queue"))
  }

  @Test(arguments: SyncChoice.allCases)
  func `no file is removed when the queue was removed meanwhile`(_ sync: SyncChoice) throws {
    let folder = try TestDropFolder()
    let queue = try SQLiteQueue(path: folder.path("q"), creates: true, sync: sync, clock: folder.test.clock)
    defer { queue.close() }
    let drops = try DropFolder(folder.path("in"), queue: queue, address: "sqlite:q", EnqueueOptions(), sync: sync) { _ in }
    for ending in ["", "-wal", "-shm", "-workers"] { try FileManager.default.removeItem(atPath: folder.path("q" + ending)) }
    try folder.drop("a", as: "a")
    #expect {
      _ = try drops.takeIn()
    } throws: { error in
      guard case .unavailable(let text)? = error as? QueueError else { return false }
      return text.hasSuffix("/q: the queue was removed or moved while it was in use")
    }
    let batch = try #require(folder.names("in.taken").first)
    #expect(folder.names("in.taken/" + batch) == ["a"])
    // A new queue of the same name is another one.
    #expect {
      _ = try folder.takeIn()
    } throws: { error in
      guard case .unavailable(let text)? = error as? QueueError else { return false }
      return text.hasSuffix("or, if that queue is gone, move them back to \(drops.path)")
    }
    try FileManager.default.moveItem(atPath: folder.path("in.taken/\(batch)/a"), toPath: folder.path("in/a"))
    #expect(try folder.lease().map(\.text) == ["a"])
  }

  @Test func `a folder that was made for a batch and got no file is removed`() throws {
    let folder = try TestDropFolder()
    try makeFolder(folder.path("in.taken/b1"))
    #expect(try folder.lease().isEmpty)
    #expect(folder.names("in.taken") == [])
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `files that find no room in the queue are added when there is some, once`() throws {
    let folder = try TestDropFolder()
    try makeFolder(folder.path("disk"))
    let disk = try #require(QueueTestDisk(at: folder.path("disk"), size: "2m"))
    defer { disk.unmount() }
    let queue = try SQLiteQueue(path: disk.path + "/queue", creates: true, sync: .off, clock: folder.test.clock)
    defer { queue.close() }
    let drops = try DropFolder(folder.path("in"), queue: queue, address: "sqlite:q", EnqueueOptions(), sync: .off) { _ in }
    let text = String(repeating: "x", count: 400_000)
    try folder.drop(text, as: "large")
    disk.fill()
    for _ in 0..<2 {
      #expect {
        _ = try drops.takeIn()
      } throws: { error in
        if case .full? = error as? QueueError { true } else { false }
      }
    }
    disk.empty()
    #expect(try !drops.takeIn())
    #expect(try queue.lease().map(\.text) == [text])
    #expect(try queue.counts().total == 1)
  }

  @Test func `two processes with one folder add each file once`() throws {
    let folder = try TestDropFolder()
    for number in 0..<500 { try folder.drop("\(number)", as: "\(number)") }
    let path = folder.path("in")
    let queue = folder.queue
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<4 {
      Thread.detachNewThread {
        if let drops = try? DropFolder(path, queue: queue, address: "sqlite:q", EnqueueOptions(), sync: .off, notice: { _ in }) {
          while (try? drops.takeIn()) == true {}
        }
        ended.signal()
      }
    }
    for _ in 0..<4 { ended.wait() }
    #expect(Set(try queue.lease(1_000).map(\.text)) == Set((0..<500).map(String.init)))
    #expect(try queue.counts().total == 500)
  }
}
