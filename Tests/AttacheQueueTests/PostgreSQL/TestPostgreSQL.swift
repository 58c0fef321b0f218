import AttachePostgreSQL
import AttacheQueue
import Foundation
import Synchronization
import Testing

/// A PostgreSQL server for the tests of this process, which ends with the process.
final class TestPostgreSQL: Sendable {
  /// The database for its owner, who is no superuser.
  let uri: String

  /// The port of the server and the name of the database.
  var place: (port: UInt16, database: String) {
    get throws {
      let parts = uri.split(whereSeparator: { ":/@".contains($0) })
      return (try #require(UInt16(parts[3])), String(parts[4]))
    }
  }

  /// The server. The first use starts it.
  static let shared = Result { try TestPostgreSQL() }

  struct DidNotStart: Error {}

  private init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = root.appending(path: "scripts/with-postgresql")
    // The server ends when the pipe closes, so with this process.
    process.arguments = ["--fsync", "off", "sh", "-c", "echo \"$POSTGRESQL_URI\"; exec cat"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      guard let byte = try output.fileHandleForReading.read(upToCount: 1)?.first else { throw DidNotStart() }
      line.append(byte)
    }
    uri = String(decoding: line.dropLast(), as: UTF8.self)
    // Kept open for the life of the process.
    _ = unsafe Unmanaged.passRetained(input)
    _ = unsafe Unmanaged.passRetained(process)
  }
}

/// A queue of a test on the test server, whose data end with the server.
final class TestServerQueue: Sendable {
  let address: PostgreSQLAddress
  let name: String

  private static let count = Atomic<Int>(0)

  init() throws {
    let number = Self.count.add(1, ordering: .relaxed).newValue
    name = "test_\(number)"
    address = try PostgreSQLAddress(parsing: try TestPostgreSQL.shared.get().uri + "?queue=\(name)&sslmode=disable")
  }

  /// The address of the queue with another host for the same server.
  func address(host: String) throws -> PostgreSQLAddress {
    let uri = try TestPostgreSQL.shared.get().uri
    return try PostgreSQLAddress(parsing: uri.replacing("127.0.0.1", with: host) + "?queue=\(name)&sslmode=disable")
  }

  /// Opens the queue as another worker. Leases that ended are taken over at once.
  func open(
    creates: Bool = true, clock: any QueueClock, upkeep: MaintenanceTimes = MaintenanceTimes(interval: .zero, absence: .zero)
  ) throws -> any PayloadQueue {
    var opening = QueueOpening(creates: creates)
    (opening.sync, opening.clock, opening.timeout) = (.off, clock, .seconds(20))
    return try PostgreSQLQueue(address, opening, upkeep: upkeep)
  }
}
