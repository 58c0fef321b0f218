import Attache
@testable import AttacheQueue
import Foundation
import Testing

/// How the next call repairs the states in which a kill leaves the folder.
@Suite struct FolderQueueCrashTests {
  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  // MARK: Dropped files

  @Test func `a batch that was moved and is not in the queue is taken in, under the names of its files`() throws {
    let folder = try TestFolderQueue()
    try makeFolder(folder.path("intake/b1"))
    try folder.drop("second", as: "b.json", in: "intake/b1")
    try folder.drop("first", as: "a.json", in: "intake/b1")
    try folder.drop("third", as: "a.json")
    #expect(try folder.queue.counts().ready == 3)
    let next = try folder.test.open(creates: false)
    let leases = try next.lease()
    #expect(leases.map(\.text) == ["first", "second", "third"])
    _ = try next.finish(leases.map { $0.finished() })
    #expect(folder.names("intake") == [])
    #expect(folder.names("new") == [])
    #expect(folder.names("done").filter { !$0.hasSuffix(".record") } == ["1-a.json", "2-b.json", "3-a.json"])
  }

  /// Every number of files that a kill can leave.
  @Test(arguments: 0...2) func `a batch that is in the queue is not taken in again`(left: Int) throws {
    let folder = try TestFolderQueue()
    try folder.database().takeIn(["a", "b"].map { DroppedPayload(payload: NewPayload($0), name: $0) }, batch: "b1")
    if left > 0 { try makeFolder(folder.path("intake/b1")) }
    for name in ["a", "b"].suffix(left) { try folder.drop(name, as: name, in: "intake/b1") }
    // Another file of the same name was dropped meanwhile.
    try folder.drop("another b", as: "b")
    #expect(try folder.queue.counts().ready == 3)
    #expect(try folder.queue.lease().map(\.text) == ["a", "b", "another b"])
    #expect(folder.names("intake") == [])
    #expect(try folder.queue.lease().isEmpty)
    #expect(try folder.database().takenBatches().isEmpty)
  }

  // MARK: Result files

  @Test func `a result without its files gets them with the next call`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue([NewPayload("a"), NewPayload("b")])
    let database = try folder.database()
    _ = try database.finish(database.lease().map { $0.finished(.attached, output: "\($0.text) media\n") })
    #expect(folder.names("done") == [])
    // Half of a file whose writer was killed.
    try Data("a me".utf8).write(to: URL(filePath: folder.path("outgoing/1")))
    #expect(try folder.queue.lease().isEmpty)
    #expect(folder.names("done") == ["1", "1.record", "2", "2.record"])
    #expect(folder.text("done/1") == "a media\n")
    #expect(folder.names("outgoing") == [])
  }

  /// Every number of files that were renamed before the kill.
  @Test(arguments: 0...2) func `a file that was written gets its name once, whatever its reader did with it`(named: Int) throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue([NewPayload("a")])
    let database = try folder.database()
    _ = try database.finish([database.leaseOne().finished()])
    #expect(try database.noteWritten([OutboxPlace(id: 1, path: "done/1")]).count == 1)
    let files = [("1.record", "{\"line\":1}\n"), ("1", "a\n")]
    for (name, text) in files.dropFirst(named) { try Data(text.utf8).write(to: URL(filePath: folder.path("outgoing/" + name))) }
    for (name, text) in files.prefix(named) { try Data(text.utf8).write(to: URL(filePath: folder.path("done/" + name))) }
    // The reader has already taken a file.
    if named == 2 { try FileManager.default.removeItem(atPath: folder.path("done/1")) }
    let next = try folder.test.open(creates: false)
    #expect(try next.lease().isEmpty)
    #expect(folder.names("outgoing") == [])
    #expect(folder.names("done") == (named == 2 ? ["1.record"] : ["1", "1.record"]))
    #expect(try next.counts().unread == (named == 2 ? 0 : 1))
  }

  @Test func `files of a purge that was killed are removed with the next call`() throws {
    let folder = try TestFolderQueue()
    try folder.drop("a", as: "a")
    try folder.queue.finishAll()
    #expect(folder.names("done") == ["1-a", "1-a.record"])
    _ = try folder.database().purge(olderThan: .zero, includesUndelivered: true)
    #expect(try folder.queue.lease().isEmpty)
    #expect(folder.names("done") == [])
  }

  // MARK: Making

  @Test func `a process that is killed while the queue is made leaves one that can be made`() throws {
    let test = try TestQueue(.folder)
    for name in ["new", "done", "outgoing"] { try makeFolder(test.path + "/" + name) }
    try Data().write(to: URL(filePath: test.path + "/lock"))
    #expect(throws: QueueError.self) { try test.open(creates: false) }
    try Data().write(to: URL(filePath: test.path + "/queue.sqlite"))
    let queue = try test.open(with: ["a"])
    #expect(try queue.leaseOne().text == "a")
  }

  @Test func `a queue whose maker was killed before its inbox has one`() throws {
    let test = try TestQueue(.folder)
    try test.open().close()
    let database = try SQLiteQueue(path: test.path + "/other", creates: true, sync: .off, clock: test.clock)
    _ = try database.enqueue([NewPayload("a")])
    _ = try database.finish([database.leaseOne().finished()])
    database.close()
    for name in ["", "-workers"] {
      try FileManager.default.removeItem(atPath: test.path + "/queue.sqlite" + name)
      try FileManager.default.moveItem(atPath: test.path + "/other" + name, toPath: test.path + "/queue.sqlite" + name)
    }
    #expect(try test.open(creates: false).lease().isEmpty)
    #expect(FileManager.default.contents(atPath: test.path + "/done/1") == Data("a\n".utf8))
  }
}
