import Attache
import AttacheQueue
import Testing

@Suite struct QueueTimeTests {
  @Test(arguments: QueueBackend.allCases)
  func `a payload that is given back with a delay is claimed when it is over, not before`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease()
    #expect(
      try queue.giveBack([
        ReturnedPayload(leases[0].token, after: .milliseconds(2_500), wasTried: true),
        ReturnedPayload(leases[1].token, after: .seconds(1), wasTried: true),
      ]) == [])
    #expect(try queue.counts()[.waiting] == 2)
    #expect(try queue.claim(.upTo(10)).next == .seconds(1))
    test.clock.pass(.milliseconds(999))
    #expect(try queue.lease().isEmpty)
    test.clock.pass(.milliseconds(1))
    #expect(try queue.counts()[.ready] == 1)
    let first = try queue.leaseOne()
    #expect(first.text == "b")
    #expect(first.attempt == 2)
    #expect(try queue.finish([first.finished()]) == [])
    #expect(try queue.claim(.upTo(10)).next == .milliseconds(1_500))
    test.clock.pass(.milliseconds(1_500))
    #expect(try queue.lease().map(\.text) == ["a"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a delay ends at the latest when the payload expires`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let expiry = test.clock.wall + .seconds(3)
    _ = try queue.enqueue([NewPayload("a") { $0.expiresAt = expiry }])
    let lease = try queue.leaseOne()
    #expect(lease.expiresAt == expiry)
    _ = try queue.giveBack([ReturnedPayload(lease.token, after: .seconds(60), wasTried: true)])
    #expect(try queue.claim(.upTo(1)).next == .seconds(3))
    test.clock.pass(.milliseconds(2_999))
    #expect(try queue.lease().isEmpty)
    test.clock.pass(.milliseconds(1))
    #expect(try queue.leaseOne().expiresAt == expiry)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload is not claimed before the moment that it names`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let now = test.clock.wall
    _ = try queue.enqueue([
      NewPayload("late") { $0.notBefore = now + .seconds(20) },
      NewPayload("soon") { $0.notBefore = now + .seconds(10) },
      NewPayload("past") { $0.notBefore = now - .seconds(10) },
      NewPayload("now") { $0.notBefore = now },
    ])
    #expect(try queue.counts()[.waiting] == 2)
    #expect(try queue.counts()[.ready] == 2)
    try queue.finishAll()
    #expect(try queue.claim(.upTo(1)).next == .seconds(10))
    test.clock.pass(.seconds(10))
    #expect(try queue.leaseOne().text == "soon")
    test.clock.pass(.seconds(10))
    #expect(try queue.counts()[.ready] == 1)
    #expect(try queue.lease().contains { $0.text == "late" })
  }

  @Test(arguments: QueueBackend.allCases)
  func `what has become due is claimed in its place, by priority and then by order`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let moment = test.clock.wall + .seconds(10)
    _ = try queue.enqueue([
      NewPayload("a") { $0.notBefore = moment },
      NewPayload("b"),
      NewPayload("c") {
        $0.notBefore = moment
        $0.priority = 20
      },
    ])
    test.clock.pass(.seconds(10))
    #expect(try queue.lease().map(\.text) == ["c", "a", "b"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `an expired payload is claimed like another, even before its moment`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let now = test.clock.wall
    _ = try queue.enqueue([
      NewPayload("expired") { $0.expiresAt = now - .seconds(1) },
      NewPayload("expired before its moment") {
        $0.notBefore = now + .seconds(60)
        $0.expiresAt = now - .seconds(1)
      },
      NewPayload("to expire before its moment") {
        $0.notBefore = now + .seconds(60)
        $0.expiresAt = now + .seconds(5)
      },
    ])
    #expect(try queue.lease().map(\.text) == ["expired", "expired before its moment"])
    test.clock.pass(.seconds(5))
    #expect(try queue.lease().map(\.text) == ["to expire before its moment"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `moments at the ends of time are taken`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let far = Duration.seconds(Int64.max)
    _ = try queue.enqueue([
      NewPayload("never") { $0.notBefore = far },
      NewPayload("forever") { $0.expiresAt = far },
      NewPayload("long ago") { $0.notBefore = .seconds(Int64.min) },
    ])
    let leases = try queue.lease()
    #expect(leases.map(\.text) == ["forever", "long ago"])
    let forever = try #require(leases.first)
    #expect(try queue.giveBack([ReturnedPayload(forever.token, after: far, wasTried: false)]) == [])
    #expect(try queue.lease().isEmpty)
    #expect(try queue.counts()[.waiting] == 2)
  }

  // MARK: What to wait for

  @Test(arguments: QueueBackend.allCases)
  func `a claim says how long to wait for what is leased elsewhere`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (worker, other) = (try test.open(with: ["a", "b"]), try test.open())
    let lease = try worker.leaseOne(for: .seconds(30))
    test.clock.pass(.seconds(1))
    let second = try worker.leaseOne(for: .seconds(10))
    #expect(try other.claim(.upTo(1)).next == .seconds(10))
    test.clock.pass(.seconds(4))
    #expect(try other.claim(.upTo(1)).next == .seconds(6))
    #expect(try worker.finish([second.finished()]) == [])
    #expect(try other.claim(.upTo(1)).next == .seconds(25))
    #expect(try worker.finish([lease.finished()]) == [])
    #expect(try other.claim(.upTo(1)).next == nil)
  }

  // MARK: Clocks that jump

  @Test(arguments: QueueBackend.allCases, [Duration.seconds(3 * 31_557_600), .seconds(-3 * 31_557_600)])
  func `a wall clock that jumps by years changes neither leases nor delays`(_ backend: QueueBackend, _ jump: Duration) throws {
    let test = try TestQueue(backend)
    let (worker, other) = (try test.open(with: ["leased", "delayed"]), try test.open())
    let leases = try worker.lease(for: .seconds(10))
    _ = try worker.giveBack([ReturnedPayload(leases[1].token, after: .seconds(5), wasTried: true)])
    test.clock.setWall(by: jump)
    #expect(try other.lease().isEmpty)
    #expect(try other.claim(.upTo(1)).next == .seconds(5))
    let counts = try other.counts()
    #expect(counts[.waiting] == 1)
    #expect(counts[.leased] == 1)
    #expect(try #require(counts.oldest[.leased]) >= .zero)
    #expect(try worker.renew([leases[0].token], for: .seconds(10)) == [])
    test.clock.pass(.seconds(5))
    #expect(try other.lease(for: .seconds(60)).map(\.text) == ["delayed"])
    test.clock.pass(.milliseconds(4_999))
    #expect(try other.lease().isEmpty)
    test.clock.pass(.milliseconds(1))
    #expect(try other.lease().map(\.text) == ["leased"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `leases and delays of another start of the machine are over`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (worker, other) = (try test.open(with: ["leased", "delayed"]), try test.open())
    guard worker.capabilities.leasesEndWithMachine else { return }
    let leases = try worker.lease(for: .seconds(3600))
    _ = try worker.giveBack([ReturnedPayload(leases[1].token, after: .seconds(3600), wasTried: true)])
    test.clock.startAgain()
    let taken = try other.lease(for: .seconds(10))
    #expect(taken.map(\.text) == ["leased", "delayed"])
    #expect(try worker.finish([leases[0].finished()]) == [leases[0].token])
    #expect(try other.finish(taken.map { $0.finished() }) == [])
  }
}
