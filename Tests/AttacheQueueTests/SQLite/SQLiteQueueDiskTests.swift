import Attache
import AttacheQueue
import Testing

@Suite(.enabled(if: QueueTestDisk.isPermitted, "mounting needs root's capability"))
struct SQLiteQueueDiskTests {
  @Test func `a full disk loses nothing, and the same handle goes on once there is room`() throws {
    let disk = try #require(QueueTestDisk())
    let queue = try Self.open(disk)
    #expect(try queue.enqueue((0..<100).map { NewPayload("payload \($0)") }) == 100)
    let leases = try queue.lease(10)
    disk.fill()
    // Uses up the free space within SQLite's files.
    #expect(
      isFull {
        while true { _ = try queue.enqueue([NewPayload(line: [UInt8](repeating: 0, count: 8_192))]) }
      })
    let enqueued = try queue.counts().total
    #expect(isFull { _ = try queue.finish(leases.map { $0.finished(output: String(repeating: "x", count: 8_192)) }) })
    #expect(try queue.counts()[.done] == 0)
    #expect(try queue.counts().total == enqueued)
    disk.empty()
    #expect(try queue.finish(leases.map { $0.finished() }) == [])
    #expect(try queue.counts()[.done] == 10)
    queue.close()
    #expect(try integrity(of: disk.path + "/queue") == ["ok"])
    #expect(try Self.open(disk).counts().total == enqueued)
  }

  @Test func `a queue is not begun on a full disk, and can be once there is room`() throws {
    let disk = try #require(QueueTestDisk())
    disk.fill()
    #expect(isFull { _ = try Self.open(disk) })
    disk.empty()
    #expect(try Self.open(disk).enqueue([NewPayload("a")]) == 1)
  }

  @Test func `a worker that finds no room for its number takes nothing`() throws {
    let disk = try #require(QueueTestDisk())
    let queue = try Self.open(disk)
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    disk.fill()
    #expect(isFull { _ = try queue.lease() })
    disk.empty()
    #expect(try queue.lease().map(\.text) == ["a"])
  }

  @Test func `a queue that cannot be written is refused with what to do`() throws {
    let disk = try #require(QueueTestDisk())
    try Self.open(disk).close()
    #expect(disk.turnReadOnly())
    #expect {
      try Self.open(disk)
    } throws: { error in
      if case .unavailable(let text)? = error as? QueueError { text.contains("can write") } else { false }
    }
  }

  private static func open(_ disk: QueueTestDisk) throws -> SQLiteQueue {
    try SQLiteQueue(path: disk.path + "/queue", creates: true, sync: .group, clock: ManualQueueClock())
  }
}
