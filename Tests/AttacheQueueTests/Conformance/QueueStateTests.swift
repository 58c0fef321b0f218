import Attache
import AttacheQueue
import Testing

@Suite struct QueueStateTests {
  @Test(arguments: QueueBackend.allCases)
  func `the counts say how many payloads are in which state`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["done", "dead", "leased", "delayed", "ready"])
    let moment = test.clock.wall + .seconds(60)
    _ = try queue.enqueue([NewPayload("later") { $0.notBefore = moment }])
    test.clock.pass(.seconds(5))
    let leases = try queue.lease(4)
    _ = try queue.giveBack([ReturnedPayload(leases[3].token, after: .seconds(20), wasTried: true)])
    _ = try queue.finish([
      leases[0].finished(), FinishedPayload(leases[1].token, outcome: .fallback, reason: nil, isDead: true, record: leases[1].record),
    ])
    _ = try queue.markRead([1])
    var counts = try queue.counts()
    #expect(counts[.delivered] == 1)
    #expect(counts[.done] == 0)
    #expect(counts[.dead] == 1)
    #expect(counts[.leased] == 1)
    #expect(counts[.waiting] == 2)
    #expect(counts[.ready] == 1)
    #expect(counts.unread == 1)
    #expect(counts.undecided == 4)
    #expect(counts.total == 6)
    #expect(counts.oldestUndecided == .seconds(5))
    #expect(counts.finishedLastMinute == 2)
    #expect(counts.recentRate == 0.2)
    test.clock.pass(.seconds(61))
    counts = try test.open().counts()
    #expect(counts[.waiting] == 0)
    #expect(counts[.ready] == 3)
    #expect(counts.finishedLastMinute == 0)
    #expect(counts.oldestUndecided == .seconds(66))
  }

  @Test(arguments: QueueBackend.allCases)
  func `each state has the age of its oldest payload, whatever the priorities`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    test.clock.pass(.seconds(10))
    _ = try queue.enqueue([NewPayload("b") { $0.priority = 99 }, NewPayload("c") { $0.notBefore = test.clock.wall + .seconds(3_600) }])
    test.clock.pass(.seconds(1))
    #expect(try queue.counts().oldest == [.ready: .seconds(11), .waiting: .seconds(1)])
    let leases = try queue.lease()
    #expect(try queue.counts().oldest == [.waiting: .seconds(1), .leased: .seconds(11)])
    let first = try #require(leases.first { $0.token.id == 1 })
    _ = try queue.finish([first.finished()])
    #expect(try queue.counts().oldest == [.waiting: .seconds(1), .leased: .seconds(1), .done: .seconds(11)])
    #expect(try queue.counts().oldestUndecided == .seconds(1))
    _ = try queue.finish(leases.map { $0.finished() })
    test.clock.pass(.seconds(3_601))
    #expect(Set(try queue.lease().map(\.token.id)) == [3])
    #expect(try queue.counts().oldest == [.leased: .seconds(3_602), .done: .seconds(3_612)])
  }

  // MARK: Retry

  @Test(arguments: QueueBackend.allCases)
  func `what fell back is worked again as if for the first time, in its place`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d"])
    let held = try queue.lease(3)
    _ = try queue.giveBack([ReturnedPayload(held[1].token, wasTried: true)])
    let again = try queue.lease(1)
    #expect(again.map(\.attempt) == [2])
    _ = try queue.finish([
      held[0].finished(.attached, output: "A\n"), again[0].finished(.fallback, reason: .deadline), held[2].finished(.invalid),
    ])
    #expect(try queue.retry(nil) == 1)
    let counts = try queue.counts()
    #expect(counts[.done] == 2)
    #expect(counts[.ready] == 2)
    #expect(counts.unread == 2)
    #expect(try queue.results(ResultRequest()).entries.map(\.id) == [1, 3])
    let retried = try queue.lease()
    #expect(retried.map(\.text) == ["b", "d"])
    #expect(retried.map(\.attempt) == [1, 1])
    #expect(retried[0].token.fence > again[0].token.fence)
    #expect(try queue.finish([again[0].finished()]) == [again[0].token])
    #expect(try queue.finish([retried[0].finished(.attached, output: "B\n")]) == [])
    #expect(try queue.lines() == ["A\n", "B\n", "c\n"])
    #expect(try queue.retry(nil) == 0)
  }

  @Test(arguments: QueueBackend.allCases)
  func `only what has the reason is retried when one is given`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d"])
    let leases = try queue.lease()
    _ = try queue.finish([
      leases[0].finished(.fallback, reason: .deadline), leases[1].finished(.fallback, reason: .dnsTimeout),
      leases[2].finished(.passthrough, reason: .deadline), leases[3].finished(.fallback),
    ])
    #expect(try queue.retry(.dnsFailed) == 0)
    #expect(try queue.retry(.deadline) == 2)
    #expect(try queue.lease().map(\.text) == ["a", "c"])
    #expect(try queue.retry(nil) == 2)
    #expect(try queue.lease().map(\.text) == ["b", "d"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a dead payload that is retried is no suspect`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a"])
    for _ in 0..<2 { _ = try test.open().lease() }
    let lease = try #require(try queue.leaseAlone().first)
    _ = try queue.finish([FinishedPayload(lease.token, outcome: .fallback, reason: nil, isDead: true, record: lease.record)])
    #expect(try queue.counts()[.dead] == 1)
    #expect(try queue.retry(nil) == 1)
    #expect(try queue.counts()[.dead] == 0)
    let again = try queue.lease()
    #expect(again.map(\.deaths) == [0])
    #expect(again.map(\.deathsAlone) == [0])
  }

  // MARK: Purge

  @Test(arguments: QueueBackend.allCases)
  func `old results are forgotten with their payloads, and nothing else`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["old", "dead", "newer", "leased", "ready"])
    let leases = try queue.lease(4)
    _ = try queue.finish([
      leases[0].finished(), FinishedPayload(leases[1].token, outcome: .fallback, reason: nil, isDead: true, record: leases[1].record),
    ])
    test.clock.pass(.seconds(5))
    _ = try queue.finish([leases[2].finished()])
    #expect(try queue.purge(olderThan: .seconds(6), includesUndelivered: true).payloads == 0)
    #expect(try queue.purge(olderThan: .seconds(5), includesUndelivered: true).payloads == 2)
    let counts = try queue.counts()
    #expect(counts.total == 3)
    #expect(counts[.done] == 1)
    #expect(counts[.dead] == 0)
    #expect(counts.unread == 1)
    #expect(try queue.lines() == ["newer\n"])
    #expect(try queue.renew([leases[3].token], for: .seconds(10)) == [])
    #expect(try queue.finish([leases[0].finished()]) == [leases[0].token])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a number is not given again when the last payload was purged`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    try queue.finishAll()
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 2)
    queue.close()
    let again = try test.open(with: ["c"])
    #expect(try again.leaseOne().token.id == 3)
  }

  // MARK: Opening again

  @Test(arguments: QueueBackend.allCases)
  func `a queue that is opened again is as it was`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["done", "delayed", "given back"])
    let expiry = test.clock.wall + .seconds(600)
    _ = try queue.enqueue([
      NewPayload("key") {
        $0.key = [1, 2, 3]
        $0.priority = 3
        $0.expiresAt = expiry
      }
    ])
    let leases = try queue.lease(2)
    _ = try queue.finish([leases[0].finished(.attached, output: "media\n")])
    _ = try queue.giveBack([ReturnedPayload(leases[1].token, after: .seconds(50), wasTried: true)])
    let (counts, identity) = (try queue.counts(), queue.identity)
    try queue.sync()
    queue.close()

    let again = try test.open(creates: false)
    #expect(try again.counts() == counts)
    #expect(again.identity == identity && !identity.isEmpty)
    #expect(try TestQueue(backend).open().identity != identity)
    #expect(try again.enqueue([NewPayload("same key") { $0.key = [1, 2, 3] }]) == 0)
    #expect(try again.lines() == ["media\n"])
    test.clock.pass(.seconds(50))
    let rest = try again.lease()
    #expect(rest.map(\.text) == ["delayed", "given back", "key"])
    #expect(rest.map(\.attempt) == [2, 1, 1])
    #expect(rest.map(\.expiresAt) == [nil, nil, expiry])
    #expect(rest.allSatisfy { $0.token.fence > leases[0].token.fence })
  }
}
