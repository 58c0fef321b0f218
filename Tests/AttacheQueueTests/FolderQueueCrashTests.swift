import Attache
@testable import AttacheQueue
import Foundation
import Testing

/// What the next call makes of the states in which a kill leaves the folder.
@Suite struct FolderQueueCrashTests {
  /// Has a call fail after all of its files were written: a folder stands where the journal is to be.
  private func fail(_ folder: TestFolderQueue, _ call: (any PayloadQueue) throws -> Void) throws {
    try FileManager.default.createDirectory(atPath: folder.path("tmp/journal"), withIntermediateDirectories: false)
    #expect(throws: QueueError.self) { try call(folder.queue) }
    try FileManager.default.removeItem(atPath: folder.path("tmp/journal"))
  }

  @Test func `a call that could not be written is not done, and leaves nothing`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue([NewPayload("a")])
    let lease = try folder.queue.leaseOne()
    let files = folder.files
    try fail(folder) { _ = try $0.enqueue([NewPayload("b"), NewPayload("c")]) }
    try fail(folder) { _ = try $0.finish([lease.finished(.attached, output: "media\n", holds: ["/held/one"])]) }
    #expect(folder.files == files)
    #expect(try folder.queue.finish([lease.finished(.attached, output: "media\n")]) == [])
    #expect(try folder.queue.lines() == ["media\n"])
    #expect(try folder.queue.lease().isEmpty)
  }

  /// Each number of steps that a kill can leave taken, of a call that has happened.
  @Test(arguments: 0..<12) func `a call that has happened is completed by whoever comes next`(taken: Int) throws {
    let folder = try TestFolderQueue()
    let files = try FolderFiles(path: folder.test.location.path, creates: false)
    _ = try folder.queue.enqueue([NewPayload("a"), NewPayload("b") { $0.priority = 5 }])
    let leases = try folder.queue.lease()
    var entries = try files.folder.names(in: "leased").compactMap { FolderEntry($0) }.sorted { $0.id < $1.id }
    // The steps of two results, one with an output and one without, and of two payloads more.
    var journal = FolderJournal()
    for index in entries.indices {
      let leased = entries[index].leased
      entries[index].release()
      entries[index].result = FolderEntry.Result(outcome: .passthrough, finishedAt: 5)
      try journal.write(leases[index].record, to: entries[index].record, in: files.folder)
      journal.link(entries[index].record, to: entries[index].visibleRecord)
      if index == 0 {
        try journal.write(Array("media\n".utf8), to: entries[index].line, in: files.folder)
        journal.remove(leased)
      } else {
        journal.move(leased, to: entries[index].line)
      }
    }
    for id in 3...4 as ClosedRange<Int64> {
      let now = FolderMoment(wall: 7, uptime: 7, boot: "0")
      try journal.write(Array("\(id)\n".utf8), to: FolderEntry(id: id, enqueuedAt: 7).waiting(now), in: files.folder)
      journal.make("keys/ab/\(id)")
    }
    journal.setNext(5)
    try journal.interrupt(in: files, afterSteps: taken)

    let next = try folder.test.open(creates: false)
    #expect(try next.lines() == ["media\n", "b\n"])
    #expect(folder.names("done") == ["1", "1.record", "2", "2.record"])
    #expect(folder.names("leased").isEmpty)
    #expect(folder.names("tmp").isEmpty)
    #expect(!folder.names(".").contains("journal"))
    #expect(try next.finish(leases.map { $0.finished() }) == Set(leases.map(\.token)))
    #expect(try next.lease().map(\.text) == ["3", "4"])
    #expect(folder.names("keys/ab") == ["3", "4"])
    _ = try next.enqueue([NewPayload("5")])
    #expect(try next.leaseOne().token.id == 5)
  }

  @Test func `what a killed process was writing goes when the queue is next opened`() throws {
    let folder = try TestFolderQueue()
    for name in ["0", "17", "journal"] { try Data("half".utf8).write(to: URL(filePath: folder.path("tmp/" + name))) }
    _ = try folder.queue.enqueue([NewPayload("a")])
    _ = try folder.test.open(creates: false)
    #expect(folder.names("tmp").isEmpty)
    #expect(try folder.queue.leaseOne().text == "a")
  }

  @Test func `what is not the queue's own lies beside it and is left alone`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue([NewPayload("a")])
    for name in ["ready/10/0/notes", "ready/notes", "suspects/notes", "leased/notes", "later/notes", "results/notes"] {
      try Data("mine".utf8).write(to: URL(filePath: folder.path(name)))
    }
    let claim = try folder.queue.claim(.upTo(10))
    #expect(claim.leases.map(\.text) == ["a"])
    #expect(!claim.hasSuspects)
    #expect(claim.next == .seconds(10))
    #expect(try folder.queue.finish(claim.leases.map { $0.finished() }) == [])
    #expect(try folder.queue.counts().total == 1)
    #expect(try folder.queue.claim(.upTo(10)).next == nil)
    #expect(folder.files.filter { $0.hasSuffix("notes") }.count == 6)
  }

  @Test func `a journal that a power failure has torn is as good as none`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue([NewPayload("a")])
    for torn in ["", "m\ttmp/0\tready/10/0/2;", "\0\0\0\0", "r\tqueue\nen"] {
      try Data(torn.utf8).write(to: URL(filePath: folder.path("journal")))
      #expect(try folder.queue.counts().total == 1)
      #expect(!folder.names(".").contains("journal"))
    }
    #expect(folder.names(".").contains("queue"))
  }

  @Test func `numbers that a power failure took back are not given again`() throws {
    let folder = try TestFolderQueue()
    _ = try folder.queue.enqueue(["a", "b", "c"].map(NewPayload.init))
    let leases = try folder.queue.lease()
    _ = try folder.queue.finish([leases[0].finished()])
    let lock = try FileHandle(forWritingTo: URL(filePath: folder.path("lock")))
    try lock.write(contentsOf: Data("2                    0                    ".utf8))
    try lock.close()
    folder.test.clock.startAgain()
    let again = try folder.test.open()
    _ = try again.enqueue([NewPayload("d")])
    let next = try again.lease()
    #expect(next.map(\.token.id) == [2, 3, 4])
    #expect(next.allSatisfy { $0.token.fence > leases[0].token.fence })
    #expect(try again.finish([leases[1].finished()]) == [leases[1].token])
  }

  @Test func `a process that is killed while the queue is made leaves one that can be made`() throws {
    let test = try TestQueue(.folder)
    for name in ["", "/tmp", "/new", "/leased"] {
      try FileManager.default.createDirectory(atPath: test.location.path + name, withIntermediateDirectories: false)
    }
    try Data().write(to: URL(filePath: test.location.path + "/lock"))
    #expect(throws: QueueError.self) { try test.open(creates: false) }
    let queue = try test.open(with: ["a"])
    #expect(try queue.leaseOne().text == "a")
  }
}

extension FolderJournal {
  /// Has the call happen and its process die after some of the steps.
  fileprivate func interrupt(in files: FolderFiles, afterSteps count: Int) throws {
    try files.folder.write(Array(text.utf8), to: FolderJournal.name)
    for line in text.split(separator: "\n").dropLast().prefix(count) { try FolderJournal.take(line, in: files) }
  }
}
