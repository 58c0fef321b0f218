import Attache
import AttacheQueue
import Testing

@Suite struct QueueLeaseTests {
  @Test(arguments: QueueBackend.allCases)
  func `a lease lasts for its span, and then anybody may take the payload, at the cost of no death while its holder lives`(
    _ backend: QueueBackend
  ) throws {
    let test = try TestQueue(backend)
    let (slow, other) = (try test.open(with: ["a"]), try test.open())
    _ = try slow.leaseOne(for: .seconds(10))
    test.clock.pass(.milliseconds(9_999))
    #expect(try other.lease().isEmpty)
    test.clock.pass(.milliseconds(1))
    let taken = try other.lease()
    #expect(taken.map(\.text) == ["a"])
    #expect(taken.map(\.deaths) == [0])
    #expect(taken.map(\.deathsAlone) == [0])
    #expect(try slow.lease().isEmpty)
  }

  @Test func `a worker that was held up beyond its leases takes none of them over, and its next claim has them last on`() throws {
    let test = try TestQueue(.sqlite)
    let (worker, other) = (try test.open(with: ["a", "b"]), try test.open())
    let held = try worker.leaseOne(for: .seconds(10))
    // As if the machine had been suspended or a disk were slow.
    test.clock.pass(.seconds(3_600))
    #expect(try worker.lease(1, for: .seconds(10)).map(\.text) == ["b"])
    #expect(try other.lease().isEmpty)
    #expect(try worker.finish([held.finished()]) == [])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a lease that is renewed lasts for the new span, from then on`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (slow, other) = (try test.open(with: ["a", "b"]), try test.open())
    let leases = try slow.lease(for: .seconds(10))
    test.clock.pass(.seconds(9))
    #expect(try slow.renew([leases[0].token], for: .seconds(10)) == [])
    test.clock.pass(.seconds(9))
    #expect(try other.lease().map(\.text) == ["b"])
    test.clock.pass(.seconds(1))
    #expect(try other.lease().map(\.text) == ["a"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a worker whose payload was taken is refused its result, its giving back and its renewal`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (slow, other) = (try test.open(with: ["a"]), try test.open())
    let late = try slow.leaseOne()
    test.clock.pass(.seconds(11))
    let taken = try other.leaseOne()
    #expect(taken.token.id == late.token.id)
    #expect(taken.token.fence > late.token.fence)
    #expect(try slow.finish([late.finished(output: "late\n")]) == [late.token])
    #expect(try slow.renew([late.token], for: .seconds(10)) == [late.token])
    #expect(try slow.giveBack([ReturnedPayload(late.token, wasTried: true)]) == [late.token])
    #expect(try other.finish([taken.finished(output: "in time\n")]) == [])
    #expect(try slow.finish([late.finished(output: "late\n")]) == [late.token])
    #expect(try slow.lines() == ["in time\n"])
    #expect(try slow.counts()[.done] == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload is finished once and given back once`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease()
    #expect(try queue.finish([leases[0].finished(output: "1\n"), leases[0].finished(output: "2\n")]) == [leases[0].token])
    #expect(try queue.finish([leases[0].finished(output: "3\n")]) == [leases[0].token])
    let returned = ReturnedPayload(leases[1].token, wasTried: true)
    #expect(try queue.giveBack([returned]) == [])
    #expect(try queue.giveBack([returned]) == [leases[1].token])
    #expect(try queue.finish([leases[1].finished(output: "4\n")]) == [leases[1].token])
    #expect(try queue.lines() == ["1\n"])
    #expect(try queue.leaseOne().attempt == 2)
  }

  @Test(arguments: QueueBackend.allCases)
  func `what is refused does not keep the rest of a call from being done`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease()
    let foreign = LeaseToken(id: 77, fence: 1)
    let stranger = FinishedPayload(foreign, outcome: .passthrough, reason: nil, record: [])
    #expect(try queue.renew([foreign, leases[0].token], for: .seconds(60)) == [foreign])
    #expect(try queue.finish([stranger, leases[0].finished()]) == [foreign])
    #expect(try queue.giveBack([ReturnedPayload(foreign, wasTried: true), ReturnedPayload(leases[1].token, wasTried: true)]) == [foreign])
    #expect(try queue.counts()[.done] == 1)
    #expect(try queue.counts()[.ready] == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a result is taken after the lease's span while nobody else has the payload`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    let lease = try queue.leaseOne()
    test.clock.pass(.seconds(60))
    #expect(try queue.finish([lease.finished()]) == [])
    #expect(try queue.lines() == ["a\n"])
  }

  // MARK: Holders that are gone

  @Test(arguments: QueueBackend.allCases)
  func `what a worker held that died is taken at once, and counts as a death`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    var dying: (any PayloadQueue)? = try test.open(with: ["a", "b"])
    let other = try test.open()
    let late = try #require(try dying?.lease())
    #expect(try other.lease().isEmpty)
    dying = nil
    let taken = try other.lease()
    #expect(taken.map(\.text) == ["a", "b"])
    #expect(taken.map(\.deaths) == [1, 1])
    #expect(taken.map(\.attempt) == [1, 1])
    #expect(try other.finish(late.map { $0.finished() }) == Set(late.map(\.token)))
  }

  @Test(arguments: QueueBackend.allCases)
  func `what a worker held that closed the queue is taken at once, and is no death`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (ending, other) = (try test.open(with: ["a", "b"]), try test.open())
    let held = try ending.lease()
    #expect(try other.lease().isEmpty)
    ending.close()
    let taken = try other.lease()
    #expect(taken.map(\.text) == ["a", "b"])
    #expect(taken.map(\.deaths) == [0, 0])
    #expect(taken.map(\.attempt) == [1, 1])
    #expect(try other.finish(held.map { $0.finished() }) == Set(held.map(\.token)))
  }

  @Test(arguments: QueueBackend.allCases)
  func `who only looks at a queue and leaves takes nothing from anybody`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let worker = try test.open(with: ["a"])
    let lease = try worker.leaseOne()
    let looking = try test.open()
    #expect(try looking.counts()[.leased] == 1)
    looking.close()
    #expect(try test.open().lease().isEmpty)
    #expect(try worker.finish([lease.finished()]) == [])
  }

  // MARK: Suspects

  @Test(arguments: QueueBackend.allCases)
  func `a payload that two workers died with is leased only to one that holds nothing else`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    try Self.die(2, with: 2, of: test)
    let usual = try queue.claim(.upTo(10))
    #expect(usual.leases.map(\.text) == ["c"])
    #expect(usual.hasSuspects)
    #expect(usual.next == .zero)
    let alone = try queue.claim(.alone)
    #expect(alone.leases.map(\.text) == ["a"])
    #expect(alone.leases.map(\.deaths) == [2])
    #expect(alone.leases.map(\.deathsAlone) == [0])
    #expect(alone.hasSuspects)
    let last = try queue.claim(.alone)
    #expect(last.leases.map(\.text) == ["b"])
    #expect(!last.hasSuspects)
    #expect(last.next != .zero)
    #expect(try queue.leaseAlone().isEmpty)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a claim that wants a suspect gets nothing else`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    let claim = try queue.claim(.alone)
    #expect(claim.leases == [])
    #expect(!claim.hasSuspects)
    #expect(claim.next == .zero)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a death alone is told from one among others`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    try Self.die(2, with: 1, of: test)
    for deaths in 0..<3 {
      var dying: (any PayloadQueue)? = try test.open()
      let lease = try #require(try dying?.leaseAlone().first)
      #expect(lease.deaths == 2 + deaths)
      #expect(lease.deathsAlone == deaths)
      dying = nil
    }
    let lease = try #require(try queue.leaseAlone().first)
    #expect(lease.deaths == 5)
    #expect(lease.deathsAlone == 3)
    let dead = FinishedPayload(lease.token, outcome: .fallback, reason: nil, isDead: true, record: lease.record)
    #expect(try queue.finish([dead]) == [])
    #expect(try queue.counts()[.dead] == 1)
    #expect(try queue.lines() == ["a\n"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a suspect that is given back stays one, and waits if it is to`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    try Self.die(2, with: 1, of: test)
    let lease = try #require(try queue.leaseAlone().first)
    #expect(try queue.giveBack([ReturnedPayload(lease.token, after: .seconds(5), wasTried: true)]) == [])
    #expect(try queue.leaseAlone().isEmpty)
    test.clock.pass(.seconds(5))
    #expect(try queue.lease().isEmpty)
    let again = try #require(try queue.leaseAlone().first)
    #expect(again.attempt == 2)
    #expect(again.deaths == 2)
    #expect(try queue.giveBack([ReturnedPayload(again.token, wasTried: false)]) == [])
    #expect(try queue.lease().isEmpty)
    #expect(try queue.leaseAlone().map(\.attempt) == [2])
  }

  /// Lets this many workers die one after another while they hold the first payloads.
  private static func die(_ deaths: Int, with payloads: Int, of test: TestQueue) throws {
    for _ in 0..<deaths {
      let dying = try test.open()
      #expect(try dying.lease(payloads).count == payloads)
    }
  }
}
