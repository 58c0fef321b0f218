import Attache
import AttacheQueue
import Foundation
import GRDB
import Testing

@Suite struct SQLiteQueueFileTests {
  @Test(arguments: [0, 2, 9_999]) func `a queue of another version is refused and left as it is`(version: Int) throws {
    let test = try TestQueue(.sqlite)
    try test.open(with: ["a"]).close()
    try DatabaseQueue(path: test.path).writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(version)") }
    let before = FileManager.default.contents(atPath: test.path)
    #expect(
      Self.refusal { _ = try test.open() }
        == "\(test.path): the queue has version \(version) of the tables, and this attache needs version 1; "
        + "finish the queue with the attache that made it, or choose another queue")
    #expect(FileManager.default.contents(atPath: test.path) == before)
  }

  @Test(arguments: [
    "this is no database, but a text that is long enough for SQLite to look at: it wants a header of a hundred bytes and more", "x",
  ])
  func `a file that is no database is refused, and nothing is put beside it`(_ text: String) throws {
    let test = try TestQueue(.sqlite)
    try Data(text.utf8).write(to: URL(fileURLWithPath: test.path))
    #expect(Self.refusal { _ = try test.open() }?.contains("is not a database") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder) == ["queue"])
    #expect(FileManager.default.contents(atPath: test.path) == Data(text.utf8))
  }

  @Test func `a database of something else is refused, and nothing is put beside it`() throws {
    let test = try TestQueue(.sqlite)
    try DatabaseQueue(path: test.path).writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE player (name TEXT)") }
    let before = FileManager.default.contents(atPath: test.path)
    #expect(Self.refusal { _ = try test.open() }?.contains("another program") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder) == ["queue"])
    #expect(FileManager.default.contents(atPath: test.path) == before)
  }

  @Test func `a queue whose maker was killed is made to its end`() throws {
    let test = try TestQueue(.sqlite)
    try DatabaseQueue(path: test.path).writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA journal_mode = WAL")
    }
    #expect(try test.open().enqueue([NewPayload("a")]) == 1)
  }

  @Test func `an empty file becomes a queue where one may be made`() throws {
    let test = try TestQueue(.sqlite)
    try Data().write(to: URL(fileURLWithPath: test.path))
    #expect(Self.refusal { _ = try test.open(creates: false) }?.contains("empty") == true)
    #expect(try test.open().enqueue([NewPayload("a")]) == 1)
  }

  @Test func `a folder that is not there, and one that is in the place of the file, are refused`() throws {
    let test = try TestQueue(.sqlite)
    #expect(
      Self.refusal { _ = try QueueLocation.sqlite(path: test.folder + "/none/queue").open(creates: true) }?.contains("create its folder")
        == true)
    #expect(Self.refusal { _ = try QueueLocation.sqlite(path: test.folder).open(creates: true) }?.contains("is not a file") == true)
  }

  @Test func `a damaged file is told with how to look at it`() throws {
    let test = try TestQueue(.sqlite)
    try test.open(with: (0..<2_000).map { "payload \($0)" }).close()
    let file = try #require(FileHandle(forUpdatingAtPath: test.path))
    let size = try file.seekToEnd()
    // Damages all pages but the first two, so that the database still opens.
    try file.seek(toOffset: 8_192)
    try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 8_192))
    try file.close()
    do {
      let queue = try test.open()
      _ = try queue.lease(1_000)
      Issue.record("nothing was found wrong")
    } catch QueueError.failed(let text) {
      #expect(text.contains("PRAGMA integrity_check"))
    }
  }

  @Test func `a queue that was removed while it is in use does not seem well`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open(with: ["a"])
    _ = try queue.counts()
    try FileManager.default.removeItem(atPath: test.path)
    #expect(Self.refusal { _ = try queue.counts() }?.contains("was removed or moved") == true)
  }

  @Test func `a queue that another process keeps is told with how to find who`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try SQLiteQueue(path: test.path, creates: true, sync: .off, clock: test.clock, waits: LockWaits(limit: .zero))
    let other = try DatabaseQueue(path: test.path)
    try other.writeWithoutTransaction { connection in
      try connection.execute(sql: "BEGIN IMMEDIATE")
      do {
        _ = try queue.enqueue([NewPayload("a")])
        Issue.record("it was not kept")
      } catch QueueError.locked(let text) {
        #expect(text.contains("has held the lock of \(test.path) for 0 s; end it, or try again later"))
      }
      try connection.execute(sql: "ROLLBACK")
    }
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
  }

  @Test func `a queue can be opened and looked at while another process keeps it`() throws {
    let test = try TestQueue(.sqlite)
    try test.open(with: ["a"]).close()
    try DatabaseQueue(path: test.path).writeWithoutTransaction { connection in
      try connection.execute(sql: "BEGIN IMMEDIATE")
      let queue = try SQLiteQueue(path: test.path, creates: true, sync: .off, clock: test.clock, waits: LockWaits(limit: .zero))
      #expect(try queue.counts()[.ready] == 1)
      #expect(try queue.results(ResultRequest()).entries.isEmpty)
      try connection.execute(sql: "ROLLBACK")
    }
  }

  @Test(arguments: SyncChoice.allCases)
  func `whatever is promised for a power failure, the queue works and can be synced at any time`(_ sync: SyncChoice) throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.location.open(creates: true, sync: sync, clock: test.clock)
    try queue.sync()
    for round in 0..<3 {
      #expect(try queue.enqueue([NewPayload("\(round)")]) == 1)
      test.clock.pass(SyncChoice.groupWindow)
    }
    try queue.finishAll()
    try queue.sync()
    try queue.sync()
    queue.close()
    #expect(try test.open(creates: false).counts()[.done] == 3)
  }

  @Test func `two names of one queue are one queue, with the same workers`() throws {
    let test = try TestQueue(.sqlite)
    let worker = try test.open(with: ["a"])
    try FileManager.default.createSymbolicLink(atPath: test.folder + "/name", withDestinationPath: "queue")
    _ = try worker.leaseOne()
    let other = try SQLiteQueue(path: test.folder + "/name", creates: false, sync: .off, clock: test.clock)
    #expect(try other.lease().isEmpty)
    worker.close()
    #expect(try other.lease().map(\.text) == ["a"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder).filter { $0.hasSuffix("-workers") } == ["queue-workers"])
  }

  @Test func `a lock file that somebody removes ends no lease before its time`() throws {
    let test = try TestQueue(.sqlite)
    let worker = try test.open(with: ["a"])
    let lease = try worker.leaseOne(for: .seconds(10))
    try FileManager.default.removeItem(atPath: test.path + "-workers")
    let others = try [test.open(), test.open()]
    for other in others { #expect(try other.lease().isEmpty) }
    #expect(try worker.renew([lease.token], for: .seconds(10)) == [])
    test.clock.pass(.seconds(10))
    #expect(try others[1].lease().map(\.text) == ["a"])
  }

  @Test func `a result whose words this version does not know is read all the same`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open(with: ["a"])
    try queue.finishAll()
    try DatabaseQueue(path: test.path).writeWithoutTransaction {
      try $0.execute(sql: "UPDATE result SET outcome = 'improved', reason = 'moon.phase'")
    }
    let entry = try #require(try queue.results(ResultRequest()).entries.first)
    #expect(entry.line == Array("a\n".utf8))
    #expect(entry.reason == nil)
  }

  @Test func `a purge of many results forgets them in several steps, and names what is free at its end`() throws {
    let test = try TestQueue(.sqlite)
    let count = PayloadChange.step + 5
    let queue = try test.open(with: (1...count).map(String.init))
    let leases = try queue.lease(count)
    #expect(try queue.finish(leases.map { $0.finished(.attached, holds: $0.token.id % 5_000 == 1 ? ["/held/\($0.token.id)"] : []) }) == [])
    let purge = try queue.purge(olderThan: .zero, includesUndelivered: true)
    #expect(purge.payloads == count)
    #expect(purge.released.sorted() == ["/held/1", "/held/10001", "/held/5001"])
    #expect(try queue.counts().total == 0)
  }

  @Test func `a link to nothing is refused, and nothing is put beside it`() throws {
    let test = try TestQueue(.sqlite)
    try FileManager.default.createSymbolicLink(atPath: test.path, withDestinationPath: test.folder + "/target")
    #expect(Self.refusal { _ = try test.open() }?.contains("is a link without a target") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder) == ["queue"])
  }

  @Test func `a queue that is removed while it is in use says so`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.location.open(creates: true, sync: .group, clock: test.clock)
    _ = try queue.enqueue([NewPayload("a")])
    for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: test.path + suffix) }
    #expect(Self.refusal { try queue.sync() }?.contains("was removed or moved") == true)
  }

  /// The message with which the queue is refused.
  private static func refusal(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch QueueError.unavailable(let text) {
      return text
    } catch {
      Issue.record(error)
      return nil
    }
  }
}

/// The result of SQLite's integrity check: `["ok"]` if the file is intact.
func integrity(of path: String) throws -> [String] {
  try DatabaseQueue(path: path).read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
}
