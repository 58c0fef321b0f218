import Attache
import AttacheQueue
import Testing

/// What an operator sets for all machines of a queue, and what all deliverers share.
@Suite struct QueueOperatorTests {
  /// Opens a queue with results that are ready to be delivered.
  private func open(_ test: TestQueue, results count: Int) throws -> any PayloadQueue {
    let queue = try test.open(with: (1...count).map { "\($0)" })
    try queue.finishAll()
    return queue
  }

  private func request(_ limit: Int = 100, rate: Double? = nil, isOrdered: Bool = false, isAlone: Bool = false) -> DeliveryRequest {
    var request = DeliveryRequest(limit: limit, span: .seconds(10), isAlone: isAlone, isOrdered: isOrdered)
    request.rate = rate
    return request
  }

  @Test(arguments: QueueBackend.allCases)
  func `a paused stage gives nothing to any worker, and goes on where it was`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, results: 3)
    _ = try queue.enqueue([NewPayload("x")])
    try queue.pause(.work, why: "a wrong campaign")
    let claim = try test.open().claim(.upTo(9))
    #expect(claim.leases == [] && claim.next != nil)
    #expect(claim.pause == QueuePause(.work, since: test.clock.wall, reason: "a wrong campaign"))
    #expect(try queue.counts().pauses == [try #require(claim.pause)])
    let delivered = try queue.settle([], claiming: request(1))
    #expect(delivered.deliveries.count == 1 && delivered.pause == nil)
    try queue.pause(.delivery, why: nil)
    for isOrdered in [false, true] {
      let claim = try queue.settle(
        delivered.deliveries.map { SettledDelivery($0.token, .over(.delivered, answer: nil)) }, claiming: request(isOrdered: isOrdered))
      #expect(claim.deliveries == [] && claim.next != nil && claim.pause?.reason == nil && claim.pause?.stage == .delivery)
    }
    #expect(try queue.counts().unread == 2)
    #expect(try queue.resume(.work) && queue.resume(.delivery))
    #expect(try !queue.resume(.work))
    #expect(try queue.lease().map(\.text) == ["x"])
    #expect(try queue.settle([], claiming: request()).deliveries.count == 2)
    #expect(try queue.counts().pauses == [])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a second pause keeps the first one's time, and its reason unless it has one`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let first = test.clock.wall
    try queue.pause(.work, why: "a wrong campaign")
    test.clock.pass(.seconds(60))
    try queue.pause(.work, why: nil)
    #expect(try queue.counts().pauses == [QueuePause(.work, since: first, reason: "a wrong campaign")])
    try queue.pause(.work, why: "ask Ann")
    #expect(try queue.counts().pauses == [QueuePause(.work, since: first, reason: "ask Ann")])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a paused queue that is empty has nothing to wait for`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    defer { withExtendedLifetime(test) {} }
    let queue = try test.open()
    for stage in PayloadEvent.Stage.allCases { try queue.pause(stage, why: nil) }
    let claim = try queue.claim(.upTo(1))
    #expect(claim.pause != nil && claim.next == nil)
    for isOrdered in [false, true] {
      let claim = try queue.settle([], claiming: request(isOrdered: isOrdered))
      #expect(claim.pause != nil && claim.next == nil && !claim.hasUndecided)
    }
  }

  @Test(arguments: QueueBackend.allCases)
  func `what a deliverer held that has gone is cancelled and requeued as any other`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, results: 4)
    let ending = try test.open()
    #expect(try ending.settle([], claiming: request(2)).deliveries.count == 2)
    _ = try queue.enqueue([NewPayload("x")])
    #expect(try ending.lease(1).count == 1)
    #expect(try queue.cancel([1, 2, 3, 5], "not wanted").payloads == 1)
    // Its leases run out, as they do when the process is stopped or its machine is gone.
    test.clock.pass(.seconds(600))
    #expect(try queue.cancel([1, 5], "not wanted").payloads == 2)
    #expect(try queue.retry([2]) == 1)
    let counts = try queue.counts()
    #expect((counts[.cancelled], counts[.ready], counts[.done], counts.total) == (3, 1, 1, 5))
  }

  @Test(arguments: QueueBackend.allCases)
  func `a clock that is set back does not stop a rate, and an idle queue has nothing to write`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, results: 30)
    test.clock.setWall(by: .seconds(7_200))
    #expect(try queue.settle([], claiming: request(rate: 100)).deliveries.count == 10)
    test.clock.setWall(by: .seconds(-7_200))
    let stopped = try queue.settle([], claiming: request(rate: 100))
    let wait = try #require(stopped.next)
    #expect(stopped.deliveries == [] && wait <= .milliseconds(10))
    test.clock.pass(.milliseconds(50))
    #expect(try queue.settle([], claiming: request(rate: 100)).deliveries.count == 5)
  }

  @Test(arguments: QueueBackend.allCases)
  func `deliverers share one rate, which saves up a tenth of a second at most`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, results: 90)
    let other = try test.open()
    func claim(_ queue: any PayloadQueue, _ limit: Int = 100, rate: Double) throws -> Int {
      try queue.settle([], claiming: request(limit, rate: rate)).deliveries.count
    }
    #expect(try claim(queue, 15, rate: 200) == 15)
    #expect(try claim(other, rate: 200) == 5)
    let none = try queue.settle([], claiming: request(rate: 200))
    #expect(none.deliveries == [] && none.next == .milliseconds(5))
    test.clock.pass(.milliseconds(50))
    #expect(try claim(queue, 4, rate: 200) == 4)
    #expect(try claim(other, rate: 200) == 6)
    test.clock.pass(.seconds(60))
    #expect(try claim(other, rate: 200) == 20)
    // Slower than ten a second: one at a time.
    test.clock.pass(.seconds(1))
    #expect(try claim(queue, rate: 0.5) == 0)
    test.clock.pass(.seconds(1))
    #expect(try claim(queue, rate: 0.5) == 1)
    #expect(try claim(queue, rate: 0.5) == 0)
  }

  @Test(arguments: QueueBackend.allCases)
  func `the time of failed attempts counts up to five minutes each, if the deliverer says so`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, results: 1)
    var counted: [Duration] = []
    for (pause, counts) in [(10, true), (20, true), (40, false), (400, true), (1, true)] {
      let delivery = try #require(try queue.settle([], claiming: request()).deliveries.first)
      counted.append(delivery.triedFor)
      test.clock.pass(.seconds(pause))
      _ = try queue.settle([SettledDelivery(delivery.token, .returned(after: .zero, tried: "status 503", counts: counts))], claiming: nil)
    }
    // Before the first attempt, nothing is known.
    #expect(counted == [0, 0, 20, 20, 320].map(Duration.seconds))
    let last = try #require(try queue.settle([], claiming: request()).deliveries.first)
    #expect(last.triedFor == .seconds(321))
    _ = try queue.settle([SettledDelivery(last.token, .over(.timedOut, answer: "status 503"))], claiming: nil)
    #expect(try queue.redeliver() == 1)
    #expect(try queue.settle([], claiming: request()).deliveries.map(\.triedFor) == [.zero])
  }
}
