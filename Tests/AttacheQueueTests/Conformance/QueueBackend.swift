import Attache
import AttacheQueue
import Foundation
import Testing

/// The kinds of queues. Each must pass all tests of this folder.
enum QueueBackend: String, CaseIterable, CustomTestStringConvertible {
  case sqlite
  case postgreSQL

  /// Those whose results hold files of a store: those with a file on this machine.
  static let holding = [sqlite]

  var testDescription: String { rawValue }
}

/// A temporary queue that several workers may open. Its files are removed when it is released.
final class TestQueue: Sendable {
  let clock = ManualQueueClock()
  let folder: String
  let location: QueueLocation

  init(_ backend: QueueBackend) throws {
    folder = FileManager.default.temporaryDirectory.path + "/attache-queue-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    server = backend == .postgreSQL ? try TestServerQueue() : nil
    location = server.map { QueueLocation($0.address) } ?? .sqlite(path: folder + "/queue")
  }

  private let server: TestServerQueue?

  /// The path of the queue's file; empty for a queue on a server.
  var path: String { location.address.path ?? "" }

  /// What identifies the queue in messages.
  var name: String { location.address.path ?? location.description }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Opens the queue as another worker.
  func open(creates: Bool = true) throws -> any PayloadQueue {
    if let server { return try server.open(creates: creates, clock: clock) }
    return try location.open(creates: creates, sync: .off, clock: clock)
  }

  /// Opens the queue and adds payloads.
  func open(with lines: [String]) throws -> any PayloadQueue {
    let queue = try open()
    #expect(try queue.enqueue(lines.map(NewPayload.init)) == lines.count)
    return queue
  }
}

extension NewPayload {
  /// A line feed is added.
  init(_ text: String) {
    self.init(line: Array((text + "\n").utf8))
  }

  init(_ text: String, _ change: (inout NewPayload) -> Void) {
    self.init(text)
    change(&self)
  }
}

extension ClaimRequest {
  static func upTo(_ limit: Int, for span: Duration = .seconds(10)) -> ClaimRequest { ClaimRequest(limit: limit, span: span) }

  static let alone = ClaimRequest(limit: 10, span: .seconds(10), isAlone: true)
}

extension PayloadQueue {
  /// Leases payloads and ignores the rest of the claim.
  func lease(_ limit: Int = 100, for span: Duration = .seconds(10)) throws -> [Lease] {
    try claim(.upTo(limit, for: span)).leases
  }

  func leaseAlone() throws -> [Lease] {
    try claim(.alone).leases
  }

  /// Leases the only payload that is ready.
  func leaseOne(for span: Duration = .seconds(10)) throws -> Lease {
    try #require(try lease(1, for: span).first)
  }

  /// Leases all ready payloads and gives their results.
  func finishAll(_ outcome: Outcome = .passthrough, reason: Reason? = nil) throws {
    let refused = try finish(try lease().map { FinishedPayload($0.token, outcome: outcome, reason: reason, record: $0.record) })
    #expect(refused == [])
  }

  /// The lines of all results.
  func lines() throws -> [String] {
    try results(ResultRequest()).entries.map { String(decoding: $0.line, as: UTF8.self) }
  }
}

extension PayloadQueue {
  /// Requeues what fell back and is dead, or what has the reason.
  func retry(_ reason: Reason?) throws(QueueError) -> Int {
    var filter = PayloadFilter(.retry)
    filter.reason = reason
    return try PayloadChange(filter, of: self).run { ids throws(QueueError) in try retry(ids) }
  }

  func redeliver() throws(QueueError) -> Int {
    try PayloadChange(PayloadFilter(.redelivery), of: self).run { ids throws(QueueError) in try redeliver(ids) }
  }

  func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    var released: [String] = []
    let filter = PayloadFilter(.purge(olderThan: age, includesUndelivered: includesUndelivered))
    let count = try PayloadChange(filter, of: self).run { ids throws(QueueError) in
      let purged = try purge(ids, includesUndelivered: includesUndelivered)
      released += purged.released
      return purged.payloads
    }
    return (count, released)
  }

  func history(of id: Int64) throws(QueueError) -> PayloadHistory? { try histories(of: [id]).first }

  /// The numbers of all payloads that a filter selects.
  func ids(_ change: (inout PayloadFilter) -> Void) throws(QueueError) -> [Int64] {
    var filter = PayloadFilter()
    change(&filter)
    return try find(filter, after: 0, limit: 1_000).ids
  }
}

extension Lease {
  var text: String { line.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .newlines) } ?? "" }

  var record: [UInt8] { Array("{\"line\":\(token.id)}\n".utf8) }

  /// A result with the original.
  func finished(_ outcome: Outcome = .passthrough, reason: Reason? = nil, output: String? = nil, holds: [String] = []) -> FinishedPayload {
    FinishedPayload(token, output: output.map { Array($0.utf8) }, outcome: outcome, reason: reason, record: record, holds: holds)
  }
}
