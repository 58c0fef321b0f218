import Attache
@testable import AttachePostgreSQL
import AttacheQueue
import Synchronization
import Testing

/// Each call of a queue whose connection is cut around its commit: the call is repeated, and the
/// queue is as if it had been carried out once.
@Suite struct CallsInDoubtTests {
  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `payloads are added once`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue()
    test.proxy.cutNext(cut, of: "enqueue")
    #expect(try test.queue.enqueue(["a", "b"].map(NewPayload.init)) == 2)
    #expect(try test.queue.enqueue(["c"].map(NewPayload.init)) == 1)
    #expect(try test.other.lease().map(\.text) == ["a", "b", "c"])
    #expect(try test.other.counts()[.leased] == 3)
    #expect(test.proxy.cuts == 1)
  }

  @Test func `a server that is away is reported at once, every minute, and when it is back`() throws {
    let clock = Mutex(MonotonicInstant.now)
    let reported = Mutex<[String]>([])
    let waits = LockWaits(clock: { clock.withLock { $0 } })
    waits.report { sentence in reported.withLock { $0.append(sentence) } }
    func wait(for count: Int) throws -> String {
      let deadline = ContinuousClock.now.advanced(by: .seconds(20))
      while reported.withLock(\.count) < count { try #require(ContinuousClock.now < deadline) }
      return reported.withLock { $0[count - 1] }
    }
    let test = try ProxiedQueue(lines: ["a"], waits: waits)
    _ = try test.queue.leaseOne()
    try test.waitUntilPresent(1)
    let stopped = ContinuousClock.now
    test.proxy.stop()
    let first = try wait(for: 1)
    #expect(ContinuousClock.now < stopped + .seconds(2))
    #expect(first.hasPrefix("postgresql://") && first.hasSuffix("; nothing is lost, and it is asked again"), "\(first)")
    #expect(first.contains(": the queue has been away: "), "\(first)")
    #expect(waits.current == first)
    clock.withLock { $0 = $0.advanced(by: .seconds(61)) }
    #expect(try wait(for: 2).contains(": the queue has been away for 61 s: "))
    clock.withLock { $0 = $0.advanced(by: .seconds(2)) }
    test.proxy.resume()
    #expect(try wait(for: 3).hasSuffix(": the queue is back after 63.0 s"))
    #expect(waits.current == nil)
    try test.waitUntilPresent(1)
    #expect(reported.withLock(\.count) == 3)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `an interrupted claim returns its leases and leaves no other lease`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a", "b", "c"])
    test.proxy.cutNext(cut, of: "claim_work")
    let leases = try test.queue.lease(2)
    #expect(leases.map(\.text) == ["a", "b"])
    #expect(leases.map(\.attempt) == [1, 1])
    #expect(try test.other.lease().map(\.text) == ["c"])
    #expect(try test.queue.finish(leases.map { $0.finished() }) == [])
    #expect(try test.other.counts()[.leased] == 1)
    #expect(test.proxy.cuts == 1)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `a result is stored once, and not refused`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a", "b"])
    let leases = try test.queue.lease()
    test.proxy.cutNext(cut, of: "finish")
    #expect(try test.queue.finish(leases.map { $0.finished(output: "out \($0.text)\n") }) == [])
    #expect(try test.other.lines() == ["out a\n", "out b\n"])
    let counts = try test.other.counts()
    #expect([counts[.leased], counts[.done], counts.unread, counts.finishedLastMinute] == [0, 2, 2, 2])
    #expect(try test.queue.finish([leases[0].finished()]) == [leases[0].token])
    #expect(test.proxy.cuts == 1)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `a payload is given back once`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a"])
    let lease = try test.queue.leaseOne()
    test.proxy.cutNext(cut, of: "give_back")
    #expect(try test.queue.giveBack([ReturnedPayload(lease.token, wasTried: true, text: "why")]) == [])
    let again = try test.other.leaseOne()
    #expect(again.attempt == 2)
    #expect(try test.other.history(of: 1)?.tries.map(\.text) == ["why"])
    #expect(try test.other.counts()[.leased] == 1)
    #expect(test.proxy.cuts == 1)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `an interrupted renewal extends the leases and reports none as lost`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a"])
    let lease = try test.queue.leaseOne(for: .seconds(10))
    test.clock.pass(.seconds(9))
    test.proxy.cutNext(cut, of: "renew_work")
    #expect(try test.queue.renew([lease.token], for: .seconds(10)) == [])
    test.clock.pass(.seconds(9))
    #expect(try test.other.lease().isEmpty)
    #expect(test.proxy.cuts == 1)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `a delivery is leased, and over once`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a", "b"])
    try test.queue.finishAll()
    let request = DeliveryRequest(limit: 10, span: .seconds(10))
    test.proxy.cutNext(cut, of: "claim_result")
    let deliveries = try test.queue.settle([], claiming: request).deliveries
    #expect(deliveries.map(\.token.id) == [1, 2])
    #expect(try test.other.settle([], claiming: request).deliveries.isEmpty)
    test.proxy.cutNext(cut, of: "settle")
    let dispositions = [
      SettledDelivery(deliveries[0].token, .over(.delivered, answer: "ok")),
      SettledDelivery(deliveries[1].token, .returned(after: .zero, tried: "later")),
    ]
    #expect(try test.queue.settle(dispositions, claiming: nil).refused == [])
    #expect(try test.other.counts().unread == 1)
    #expect(try test.other.settle([], claiming: request).deliveries.map(\.attempt) == [2])
    #expect(try test.other.history(of: 1)?.result?.status == "delivered")
    #expect(test.proxy.cuts == 2)
  }

  @Test(arguments: PostgreSQLProxy.Cut.allCases)
  func `results are marked, requeued and purged once`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(lines: ["a", "b"])
    try test.queue.finishAll(.fallback)
    test.proxy.cutNext(cut, of: "mark_read")
    _ = try test.queue.markRead([1])
    #expect(try test.other.counts().unread == 1)
    test.proxy.cutNext(cut, of: "retry")
    _ = try test.queue.retry(nil)
    var counts = try test.other.counts()
    #expect([counts[.ready], counts[.done], counts.unread] == [2, 0, 0])
    try test.queue.finishAll(.fallback)
    test.proxy.cutNext(cut, of: "purge")
    _ = try test.queue.purge(olderThan: .zero, includesUndelivered: true)
    counts = try test.other.counts()
    #expect(counts.total == 0)
    #expect(counts.unread == 0)
    #expect(test.proxy.cuts == 3)
  }

  @Test func `a worker whose connections are all cut keeps its leases, and no death is counted`() throws {
    let test = try ProxiedQueue(lines: ["a"], upkeep: MaintenanceTimes(interval: .zero, absence: .seconds(5)))
    let lease = try test.queue.leaseOne(for: .seconds(60))
    #expect(try test.other.lease().isEmpty)
    test.proxy.stop()
    try test.waitUntilPresent(1)
    // The other worker looks while the lock is missing.
    #expect(try test.other.lease().isEmpty)
    test.proxy.resume()
    try test.waitUntilPresent(2)
    #expect(try test.queue.renew([lease.token], for: .seconds(60)) == [])
    test.clock.pass(.seconds(10))
    #expect(try test.other.lease().isEmpty)
    #expect(try test.queue.finish([lease.finished()]) == [])
  }

  @Test func `after a reconnection, a worker waits longer before it takes leases over, because others may notice the loss later`() throws {
    let test = try ProxiedQueue(lines: ["a"], upkeep: MaintenanceTimes(interval: .zero, absence: .seconds(5)))
    _ = try test.queue.leaseOne(for: .seconds(3_600))
    #expect(try test.other.lease().isEmpty)
    test.proxy.stop()
    try test.waitUntilPresent(1)
    try test.reconnectOther()
    #expect(try test.other.lease().isEmpty)
    test.clock.pass(.seconds(19))
    #expect(try test.other.lease().isEmpty)
    test.clock.pass(.seconds(2))
    #expect(try test.takeOver().deaths == 1)
  }

  @Test func `deaths counted while a worker was unreachable are taken back when it reconnects`() throws {
    let test = try ProxiedQueue(lines: ["a"])
    _ = try test.queue.leaseOne(for: .seconds(60))
    test.proxy.stop()
    let taken = try test.takeOver()
    #expect(taken.deaths == 1)
    #expect(try test.other.giveBack([ReturnedPayload(taken.token, wasTried: false)]) == [])
    test.proxy.resume()
    try test.waitUntilPresent(2)
    #expect(try test.other.leaseOne().deaths == 0)
  }

  @Test(arguments: [PostgreSQLProxy.Cut.withinCommit, .afterCommit])
  func `an enqueue whose outcome was unknown adds nothing twice when it is repeated`(_ cut: PostgreSQLProxy.Cut) throws {
    let test = try ProxiedQueue(timeout: .milliseconds(300))
    test.proxy.cutNext(cut, of: "enqueue")
    test.proxy.stopAfterCut()
    let payloads = ["a", "b"].map(NewPayload.init)
    #expect(throws: QueueError.self) { try test.queue.enqueue(payloads) }
    test.proxy.resume()
    #expect(try test.queue.enqueue(payloads) == 2)
    #expect(try test.queue.enqueue(payloads) == 2)
    #expect(try test.other.lease().map(\.text) == ["a", "b", "a", "b"])
  }

  @Test func `a claim whose outcome was unknown leaves no lease behind`() throws {
    let test = try ProxiedQueue(lines: ["a", "b"], timeout: .milliseconds(300))
    #expect(try test.queue.lease(1).map(\.text) == ["a"])
    test.proxy.cutNext(.afterCommit, of: "claim_work")
    test.proxy.stopAfterCut()
    #expect(throws: QueueError.self) { try test.queue.lease() }
    test.proxy.resume()
    #expect(try test.queue.lease().map(\.text) == ["b"])
    let counts = try test.other.counts()
    #expect([counts[.ready], counts[.leased]] == [0, 2])
  }

  @Test func `threads of one handle lose nothing to each other`() async throws {
    let test = try ProxiedQueue()
    let queue = test.queue
    let added = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<8 { group.addTask { try queue.enqueue((0..<20).map { NewPayload("\(number) \($0)") }) } }
      return try await group.reduce(0, +)
    }
    #expect(added == 160)
    #expect(try Set(test.other.lease(200).map(\.text)).count == 160)
  }

  @Test func `a call does not wait for a server when the command was told to stop`() throws {
    let test = try ProxiedQueue(timeout: .seconds(3_600))
    test.proxy.stop()
    test.queue.stopWaiting()
    let error = #expect(throws: QueueError.self) { try test.queue.enqueue([NewPayload("a")]) }
    #expect(error?.description.contains("the command was told to stop") == true)
  }

  @Test func `a call whose outcome stays unknown says so`() throws {
    let test = try ProxiedQueue(timeout: .milliseconds(300))
    test.proxy.cutNext(.withinCommit, of: "enqueue")
    test.proxy.stopAfterCut()
    let error = #expect(throws: QueueError.self) { try test.queue.enqueue([NewPayload("a")]) }
    guard case .unknown(let text) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.contains("given up after 300 ms"))
    // Nothing was sent, so this one is known.
    let other = #expect(throws: QueueError.self) { try test.queue.enqueue([NewPayload("b")]) }
    guard case .unavailable = other else {
      Issue.record("\(String(describing: other))")
      return
    }
  }
}

/// A queue behind a proxy, and a second worker that reaches the server directly.
final class ProxiedQueue: Sendable {
  let clock = ManualQueueClock()
  let proxy: PostgreSQLProxy
  let queue: any PayloadQueue
  let other: any PayloadQueue
  let server: TestServerQueue

  init(
    lines: [String] = [], upkeep: MaintenanceTimes = MaintenanceTimes(interval: .zero, absence: .zero), timeout: Duration = .seconds(20),
    waits: LockWaits = LockWaits()
  ) throws {
    server = try TestServerQueue()
    other = try server.open(clock: clock, upkeep: upkeep)
    let (port, database) = try TestPostgreSQL.shared.get().place
    proxy = try PostgreSQLProxy(to: port)
    let address = try PostgreSQLAddress(
      parsing: "postgresql://attache@127.0.0.1:\(proxy.port)/\(database)?queue=\(server.name)&sslmode=disable")
    var opening = QueueOpening(creates: false)
    (opening.sync, opening.clock, opening.timeout) = (.off, clock, timeout)
    queue = try PostgreSQLQueue(address, opening, upkeep: upkeep, waits: waits)
    if !lines.isEmpty { #expect(try other.enqueue(lines.map(NewPayload.init)) == lines.count) }
  }

  deinit {
    queue.close()
    other.close()
    proxy.close()
  }

  /// Waits until this many workers hold their locks.
  func waitUntilPresent(_ count: Int) throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while try other.load().workers.count(where: \.isPresent) != count { try #require(ContinuousClock.now < deadline) }
  }

  /// Ends the connection by which the second worker shows that it is alive, and waits until it has
  /// another.
  func reconnectOther() throws {
    let other = try #require(other as? PostgreSQLQueue)
    let holder = Statement(
      "",
      """
      SELECT pid::bigint FROM pg_locks WHERE locktype = 'advisory' AND \(WorkerPresence.key) = (SELECT key FROM worker WHERE number = $1::bigint)
      """)
    func process() throws -> Int64? {
      let rows = try other.pool.call { attempt throws(SessionError) in
        try attempt.run([Execution(holder, .integer(other.presence.current))])[0]
      }
      return rows.count > 0 ? rows.integer(0, 0) : nil
    }
    let former = try #require(try process())
    _ = try other.pool.call { attempt throws(SessionError) in
      try attempt.run([Execution(Statement("", "SELECT pg_terminate_backend($1::bigint::integer)"), .integer(former))])
    }
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while try process() ?? former == former || !other.presence.isConnected { try #require(ContinuousClock.now < deadline) }
  }

  /// Lets the second worker take the payload over.
  func takeOver() throws -> Lease {
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while ContinuousClock.now < deadline {
      if let lease = try other.lease(1, for: .seconds(60)).first { return lease }
    }
    return try #require(nil)
  }
}
