import AttacheTesting
import Attache
import AttacheQueue
import GRDB
import Testing

@Suite struct SQLiteQueueTallyTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `the counts that are kept are those of the rows, whatever was done`(_ seed: UInt64) throws {
    var run = try RandomRun(test: TestQueue(.sqlite), generator: SeededGenerator(seed: seed))
    for _ in 0..<400 { try run.step() }
    let counts = try run.test.open().counts()
    let rows = try DatabaseQueue(path: run.test.path).read { connection in
      func count(_ query: String) throws -> Int { try Int.fetchOne(connection, sql: "SELECT count(*) FROM \(query)") ?? 0 }
      var rows = QueueCounts()
      rows[.leased] = try count("work WHERE state = 3")
      rows[.ready] = try count("work") - rows[.leased]
      rows[.dead] = try count("result WHERE dead OR status = 'poison'")
      rows[.done] = try count("result WHERE NOT dead AND NOT read")
      rows[.delivered] = try count("result WHERE NOT dead AND read AND coalesce(status, 'delivered') = 'delivered'")
      for state in [PayloadState.dropped, .expired, .timedOut, .cancelled] {
        rows[state] = try count("result WHERE NOT dead AND status = '\(state.rawValue)'")
      }
      rows.unread = try count("result WHERE NOT read")
      #expect(try count("payload") == rows.total)
      #expect(try count("output") == rows.decided)
      #expect(try count("work JOIN result ON result.id = work.id") == 0)
      #expect(try count("delivery") == rows.unread)
      #expect(try count("delivery JOIN result ON result.id = delivery.id WHERE read") == 0)
      rows.delivering = try count("delivery WHERE state = 3")
      return rows
    }
    #expect(counts[.ready] + counts[.waiting] == rows[.ready])
    #expect(counts[.leased] == rows[.leased])
    for state in PayloadState.allCases where ![.ready, .waiting, .leased].contains(state) { #expect(counts[state] == rows[state]) }
    #expect(counts.unread == rows.unread)
    #expect(counts.delivering == rows.delivering)
    #expect(try integrity(of: run.test.path) == ["ok"])
  }
}

/// Three workers that make random calls, and sometimes die or close the queue.
private struct RandomRun {
  let test: TestQueue
  var generator: SeededGenerator
  private var workers: [any PayloadQueue] = []
  private var leases: [Lease] = []
  private var deliveries: [Delivery] = []

  init(test: TestQueue, generator: SeededGenerator) throws {
    self.test = test
    self.generator = generator
    for _ in 0..<3 { workers.append(try test.open()) }
  }

  mutating func step() throws {
    let index = Int.random(in: 0..<3, using: &generator)
    let worker = workers[index]
    switch Int.random(in: 0..<17, using: &generator) {
    case 0, 1: _ = try worker.enqueue((0..<20).map { _ in payload() })
    case 2, 3: leases += try worker.lease(Int.random(in: 1...9, using: &generator), for: .seconds(30))
    case 4: leases += try worker.leaseAlone()
    case 5, 6: _ = try worker.finish(some().map(finished))
    case 7: _ = try worker.giveBack(some().map { ReturnedPayload($0.token, after: .seconds($0.token.id % 3 * 10), wasTried: true) })
    case 8: _ = try worker.renew(some().map(\.token), for: .seconds(30))
    case 9: test.clock.pass(.seconds(Int.random(in: 1...20, using: &generator)))
    case 10: _ = try worker.markRead((0..<9).map { _ in Int64.random(in: 1...300, using: &generator) })
    case 11:
      _ = try Bool.random(using: &generator) ? worker.retry(nil) : worker.purge(olderThan: .seconds(60), includesUndelivered: true).payloads
    case 12: _ = try worker.redeliver()
    case 13: _ = try worker.cancel((0..<9).map { _ in Int64.random(in: 1...300, using: &generator) }, "why")
    case 14, 15: deliveries += try worker.settle((0..<4).compactMap { _ in settled() }, claiming: request()).deliveries
    default:
      if Bool.random(using: &generator) { worker.close() }
      workers[index] = try test.open()
    }
  }

  /// Eight random picks from the last 40 leases.
  private mutating func some() -> [Lease] {
    (0..<8).compactMap { _ in leases.suffix(40).randomElement(using: &generator) }
  }

  /// A random result for one of the last 20 deliveries.
  private mutating func settled() -> SettledDelivery? {
    guard let delivery = deliveries.suffix(20).randomElement(using: &generator) else { return nil }
    switch Int.random(in: 0..<5, using: &generator) {
    case 4: return SettledDelivery(delivery.token, .over(DeliveryStatus.allCases.randomElement(using: &generator) ?? .dropped, answer: "x"))
    case 0: return SettledDelivery(delivery.token, .returned(after: .seconds(delivery.token.id % 3 * 10), tried: "x"))
    case 1: return SettledDelivery(delivery.token, .senderEnded(isAlone: false, tried: "x"))
    default: return SettledDelivery(delivery.token, .over(.delivered, answer: nil))
    }
  }

  private mutating func request() -> DeliveryRequest? {
    let kind = Int.random(in: 0..<4, using: &generator)
    guard kind > 0 else { return nil }
    return DeliveryRequest(limit: Int.random(in: 1...9, using: &generator), span: .seconds(30), isAlone: kind == 1, isOrdered: kind == 2)
  }

  private mutating func payload() -> NewPayload {
    let number = Int.random(in: 0..<400, using: &generator)
    let wall = test.clock.wall
    return NewPayload("\(number)") { payload in
      payload.priority = number % 3
      if number % 5 == 0 { payload.key = [UInt8(number / 5)] }
      if number % 7 == 0 { payload.notBefore = wall + .seconds(number % 40) }
      if number % 11 == 0 { payload.expiresAt = wall + .seconds(number % 50) }
    }
  }

  private func finished(_ lease: Lease) -> FinishedPayload {
    let isDead = lease.deathsAlone > 1
    return FinishedPayload(
      lease.token, outcome: lease.token.id % 2 == 0 || isDead ? .fallback : .attached, reason: nil, isDead: isDead, record: lease.record,
      holds: ["/held/\(lease.token.id % 10)"])
  }
}
