import Attache
import AttacheQueue
import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

/// A disk whose errors Linux reports only once.
@Suite struct SQLiteQueueSyncTests {
  /// The results of fdatasync(2) for each call in turn: 0 or an errno. Later calls succeed.
  private final class Disk: Sendable {
    private let answers: Mutex<[Int32]>

    init(_ answers: [Int32]) { self.answers = Mutex(answers) }

    func sync() -> Int32 {
      let answer = answers.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
      errno = answer
      return answer == 0 ? 0 : -1
    }
  }

  private let clock = ManualQueueClock()
  private let folder = FileManager.default.temporaryDirectory.path + "/attache-queue-sync-\(UUID().uuidString)"
  private var path: String { folder + "/queue" }

  private func open(_ answers: [Int32]) throws -> SQLiteQueue {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let disk = Disk(answers)
    return try SQLiteQueue(path: path, creates: true, sync: .group, clock: clock, waits: LockWaits(limit: .zero)) { _ in disk.sync() }
  }

  private var logSize: Int { get throws { try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? -1 } }

  private func isBroken(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch QueueError.disk {
      return true
    } catch {
      Issue.record(error)
      return false
    }
  }

  @Test func `after a sync that failed, nothing is safe before it is in the database file`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let queue = try open([EIO])
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    #expect(isBroken { try queue.sync() })
    #expect(try logSize > 0)
    try queue.sync()
    #expect(try logSize == 0)
    #expect(try queue.enqueue([NewPayload("b")]) == 1)
    try queue.sync()
    #expect(try logSize > 0)
    queue.close()
    #expect(try open([]).counts().total == 2)
  }

  @Test func `while another process keeps the log in use after a failed sync, every change is refused`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let queue = try open([EIO])
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    try DatabaseQueue(path: path).read { reader in
      let count = try Int.fetchOne(reader, sql: "SELECT count(*) FROM payload")
      #expect(count == 1)
      clock.pass(SyncChoice.groupWindow)
      #expect(isBroken { _ = try queue.enqueue([NewPayload("b")]) })
      #expect(isBroken { _ = try queue.enqueue([NewPayload("b")]) })
      #expect(isBroken { try queue.sync() })
    }
    #expect(try queue.enqueue([NewPayload("b")]) == 1)
    #expect(try queue.counts().total == 2)
    queue.close()
  }

  @Test func `a queue that is removed while it is in use is told`() throws {
    let queue = try open([])
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    try FileManager.default.removeItem(atPath: folder)
    #expect { try queue.sync() } throws: { error in
      error as? QueueError == .unavailable("\(path): the queue was removed or moved while it was in use")
    }
  }
}
