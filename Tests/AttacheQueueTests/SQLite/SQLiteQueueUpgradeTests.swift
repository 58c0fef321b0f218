import Attache
import AttacheQueue
import Foundation
import GRDB
import Testing

/// `Fixtures/queues/version-1.sql`: a queue of the previous version, with payloads in every state.
@Suite struct SQLiteQueueUpgradeTests {
  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../Fixtures/queues/version-1.sql")
  /// The file of workers beside it: worker 8 was killed.
  private static let workers = "\0CCRRRCCR"

  private func queue() throws -> TestQueue {
    let test = try TestQueue(.sqlite)
    let sql = try String(contentsOf: Self.fixture, encoding: .utf8)
    try DatabaseQueue(path: test.path).writeWithoutTransaction { try $0.execute(sql: sql) }
    try Data(Self.workers.utf8).write(to: URL(filePath: test.path + "-workers"))
    return test
  }

  @Test func `a queue of the version before is worked to its end, whatever state its payloads are in`() throws {
    let test = try queue()
    let queue = try test.open(creates: false)
    let before = try queue.counts()
    #expect((before.ready, before.waiting, before.leased) == (2, 1, 1))
    #expect((before.done, before.dead, before.unread) == (3, 1, 3))
    let key: [UInt8] = [
      0xA3, 0xC0, 0x48, 0x21, 0x6C, 0xE0, 0x94, 0x5C, 0x4F, 0xB5, 0x96, 0x86, 0x69, 0x60, 0x9F, 0x13, 0xF9, 0x3E, 0x76, 0x6F, 0xF0, 0xCB,
      0x16, 0xF9, 0x97, 0xEE, 0x2D, 0x3D, 0xEB, 0x86, 0xDB, 0xE1,
    ]
    #expect(try queue.enqueue([NewPayload("again") { $0.key = key }]) == 0)

    let leases = try queue.lease()
    #expect(leases.map(\.token) == [5, 7, 8].map { LeaseToken(id: $0, fence: 14) })
    #expect(leases.map(\.attempt) == [7, 1, 1])
    #expect(leases.map(\.deaths) == [0, 1, 0])
    #expect(try queue.finish(leases.map { $0.finished() }) == [])
    #expect(try queue.claim(.upTo(10)).next != nil)
    test.clock.setWall(by: .seconds(80 * 31_557_600))
    let last = try queue.leaseOne()
    #expect(last.token.id == 6)
    #expect(try queue.finish([last.finished()]) == [])

    // Results that the previous version read count as delivered.
    let sent = try test.open().settle([], claiming: DeliveryRequest(limit: 100, span: .seconds(10)))
    #expect(sent.deliveries.map(\.token.id).sorted() == Array(2...8))
    _ = try queue.settle(
      sent.deliveries.map { SettledDelivery($0.token, .returned(after: .zero, tried: nil)) }, claiming: nil)

    let entries = try queue.results(ResultRequest(onlyUnread: true)).entries
    #expect(entries.map(\.id) == Array(2...8))
    #expect(entries.first?.outcome == .attached)
    #expect(entries.first.map { String(decoding: $0.line, as: UTF8.self).contains(#""attache":{"attachments":[{"identifier":"#) } == true)
    #expect(entries.map(\.reason) == [nil, nil, .queuePoison, nil, nil, nil, nil])
    let holds = try queue.markRead(entries.map(\.id))
    #expect(holds.map { $0.hasPrefix("/store/.held/") } == [true])
    #expect(try queue.retry(.queuePoison) == 1)
    try queue.finishAll()
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 8)
    #expect(try queue.counts().total == 0)
    queue.close()
    #expect(try integrity(of: test.path) == ["ok"])
  }

  @Test func `on the same start of the machine the delay of a try that failed goes on, and the lease of a killed worker ends at once`()
    throws
  {
    let test = try queue()
    try DatabaseQueue(path: test.path).writeWithoutTransaction {
      try $0.execute(sql: "UPDATE boot SET name = ?", arguments: [test.clock.boot])
      try $0.execute(sql: "UPDATE work SET until = ? WHERE until IS NOT NULL", arguments: [6_000_000_000])
    }
    let queue = try test.open(creates: false)
    #expect(try queue.counts().waiting == 2)
    let leases = try queue.lease(for: .seconds(3_600))
    #expect(leases.map(\.token.id) == [7, 8])
    #expect(leases.map(\.deaths) == [1, 0])
    test.clock.pass(.seconds(1_000))
    #expect(try queue.lease().map(\.token.id) == [5])
  }
}
