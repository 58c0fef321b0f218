@testable import AttachePostgreSQL
import Attache
import AttacheQueue
import Foundation
import Testing

/// Locks that other sessions hold: of a role that may connect and nothing else, and of a role that
/// may use the queue.
@Suite(.timeLimit(.minutes(1))) struct StrangerLockTests {
  private let test: TestServerQueue

  init() throws {
    test = try TestServerQueue()
    try test.run("DO 'BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END'", as: "postgres")
  }

  @Test func `locks of a stranger keep no call from the queue`() throws {
    let queue = try test.open(clock: SystemQueueClock())
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    let stranger = try ServerSession(as: "stranger")
    // Every key that can be computed from the names and numbers that a stranger can see.
    let schema = "(SELECT oid::bigint FROM pg_namespace WHERE nspname = 'attache_\(test.name)')"
    let probe = 0x6171_7565_0000_0000
    for key in ["\(probe)", "\(probe) + 1 + \(schema)", "\(schema)", "0", "hashtextextended('attache_\(test.name)', 0)"] {
      try stranger.run("SELECT pg_advisory_lock(\(key))")
    }
    try stranger.run("SELECT pg_advisory_lock(\(schema)::integer, number) FROM generate_series(0, 100) AS number")
    let other = try test.open(clock: SystemQueueClock())
    let leases = try other.lease(1, for: .seconds(60))
    #expect(leases.count == 1)
    #expect(try other.finish(leases.map { $0.finished() }) == [])
    try other.shareDelivery(.reader)
    #expect(throws: QueueError.self) { try queue.shareDelivery(.amongDeliverers) }
    #expect(try other.markRead([1]) == [])
    other.close()
    try queue.shareDelivery(.ordered)
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 1)
    queue.close()
    try stranger.end()
  }

  @Test func `a worker that died is seen as dead while a stranger holds its lock`() throws {
    let rig = try ProxiedQueue(lines: ["a"])
    #expect(try rig.queue.lease(1, for: .seconds(3_600)).count == 1)
    let stranger = try ServerSession(as: "stranger")
    let number = try #require((rig.queue as? PostgreSQLQueue)?.presence.current)
    let key = try rig.server.run("SELECT key FROM attache_\(rig.server.name).worker WHERE number = \(number)")
    try stranger.begin("SELECT pg_advisory_lock(\(key))")
    rig.proxy.close()
    try stranger.wait()
    #expect(try rig.takeOver().deaths == 1)
    try stranger.end()
  }

  @Test func `a call that waits for a lock of the queue says who holds it, and ends`() throws {
    let queue = try test.open(clock: SystemQueueClock())
    defer { queue.close() }
    let holder = try ServerSession(as: nil)
    try holder.run("BEGIN; SELECT 1 FROM attache_\(test.name).queue FOR UPDATE")
    let process = try holder.run("SELECT pg_backend_pid()")
    var opening = QueueOpening(creates: false)
    opening.timeout = .seconds(3)
    let waits = LockWaits()
    let reports = Reports()
    waits.report { reports.add($0) }
    let other = try PostgreSQLQueue(test.address, opening, waits: waits)
    defer { other.close() }
    let session = "process \(process) of the server (role attache, psql, 127.0.0.1)"
    #expect(throws: QueueError.locked("\(session) has held the lock of \(test.address) for 3 s; end it, or try again later")) {
      try other.enqueue([NewPayload("a")])
    }
    #expect(reports.all == ["waiting for the lock of \(test.address), which \(session) holds"])
    waits.stop()
    #expect(throws: QueueError.locked("told to stop while waiting for the lock of \(test.address), which \(session) holds")) {
      try other.enqueue([NewPayload("a")])
    }
    try holder.end()
    #expect(try other.enqueue([NewPayload("a")]) == 1)
  }
}

/// The sentences of waits.
private final class Reports: @unchecked Sendable {
  // Unchecked: the lock guards the array.
  private let lock = NSLock()
  private var sentences: [String] = []

  var all: [String] { lock.withLock { sentences } }

  func add(_ sentence: String) { lock.withLock { sentences.append(sentence) } }
}

/// A session of `psql` that stays open.
private final class ServerSession {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  /// - Parameter user: a role of the server; the owner of the database when nil.
  init(as user: String?) throws {
    let owner = try TestPostgreSQL.shared.get().uri
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", user.map { "postgresql://\($0)@" + owner.drop { $0 != "@" }.dropFirst() } ?? owner,
    ]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
  }

  /// Sends a statement.
  func begin(_ sql: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(sql);\n\\echo done\n".utf8))
  }

  /// Waits until the statement is done.
  ///
  /// - Returns: its last row.
  @discardableResult
  func wait() throws -> String {
    var bytes: [UInt8] = []
    while !bytes.ends(with: "done\n") {
      bytes += try #require(try output.fileHandleForReading.read(upToCount: 1))
    }
    return String(decoding: bytes.dropLast(5), as: UTF8.self).split(separator: "\n").last.map(String.init) ?? ""
  }

  @discardableResult
  func run(_ sql: String) throws -> String {
    try begin(sql)
    return try wait()
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
