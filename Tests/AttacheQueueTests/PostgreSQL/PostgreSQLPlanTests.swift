import AttacheQueue
import Foundation
import Testing

/// The plans of statements on leases, which must not join all leases with all given ones.
@Suite(.timeLimit(.minutes(1))) struct PostgreSQLPlanTests {
  private static let count = 2_000

  @Test func `a lease is found by its number, whatever the statistics say`() throws {
    let test = try TestServerQueue()
    let queue = try test.open(clock: ManualQueueClock())
    _ = try queue.enqueue((0..<Self.count).map { NewPayload("line \($0)") })
    // These statistics say that no row is leased.
    try test.run("ANALYZE attache_\(test.name).work")
    let leases = try queue.lease(Self.count)
    #expect(try queue.renew(leases.map(\.token), for: .seconds(60)).isEmpty)
    #expect(try queue.finish(leases.map { $0.finished() }).isEmpty)
    queue.close()
    // A server process publishes what it counted when it ends.
    var reads = try test.reads(of: "work_pkey")
    while reads < 2 * Self.count { reads = try test.reads(of: "work_pkey") }
    #expect(try test.reads(of: "work_leased") < 20 * Self.count)
  }
}

extension TestServerQueue {
  /// Runs SQL, and returns what psql prints.
  ///
  /// - Parameter user: a role of the server; the owner of the database unless given.
  @discardableResult
  func run(_ sql: String, as user: String? = nil) throws -> String {
    let owner = try TestPostgreSQL.shared.get().uri
    let uri = user.map { "postgresql://\($0)@" + owner.drop { $0 != "@" }.dropFirst() } ?? owner
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql, uri]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// How many entries of an index of the queue scans have read.
  fileprivate func reads(of index: String) throws -> Int {
    let sql = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = 'attache_\(name)' AND indexrelname = '\(index)'"
    return try #require(Int(try run(sql)))
  }
}
