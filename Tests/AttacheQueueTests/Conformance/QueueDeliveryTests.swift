import Attache
import AttacheQueue
import Testing

/// How results are leased to deliverers.
@Suite struct QueueDeliveryTests {
  /// A queue whose payloads have results.
  private func open(_ test: TestQueue, _ lines: [String], change: (inout NewPayload, Int) -> Void = { _, _ in }) throws -> any PayloadQueue
  {
    let queue = try test.open()
    _ = try queue.enqueue(
      lines.enumerated().map { index, line in
        var payload = NewPayload(line)
        change(&payload, index)
        return payload
      })
    try queue.finishAll()
    return queue
  }

  @Test(arguments: QueueBackend.allCases)
  func `results are leased to one deliverer at a time, and are over once they are delivered`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (first, second) = (try open(test, ["a", "b", "c"]), try test.open())
    let claim = try first.settle([], claiming: .upTo(2))
    #expect(claim.deliveries.map(\.text) == ["a", "b"])
    #expect(claim.deliveries.map(\.attempt) == [1, 1])
    #expect(try second.settle([], claiming: .upTo(9)).deliveries.map(\.text) == ["c"])
    #expect(try first.counts().delivering == 3)
    let settled = try first.settle(claim.deliveries.map { SettledDelivery($0.token, .over(.delivered, answer: "200")) }, claiming: .upTo(9))
    #expect(settled.refused == [] && settled.deliveries.isEmpty)
    #expect(settled.next != nil)
    let counts = try first.counts()
    #expect((counts.unread, counts.delivering) == (1, 1))
    #expect(try first.results(ResultRequest(onlyUnread: true)).entries.map(\.id) == [3])
  }

  @Test(arguments: QueueBackend.allCases)
  func `the highest priority comes first, and then what was decided first`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    _ = try queue.enqueue([NewPayload("late"), NewPayload("early"), NewPayload("urgent") { $0.priority = 50 }])
    let leases = try queue.lease().sorted { $0.token.id < $1.token.id }
    _ = try queue.finish([leases[1].finished()])
    test.clock.pass(.seconds(1))
    _ = try queue.finish([leases[0].finished(), leases[2].finished()])
    #expect(try queue.settle([], claiming: .upTo(9)).deliveries.map(\.text) == ["urgent", "early", "late"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `what is given back for later is not claimed before, and what expires meanwhile is`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let expiry = test.clock.wall + .seconds(20)
    let queue = try open(test, ["a", "b"]) { payload, index in if index == 1 { payload.expiresAt = expiry } }
    let deliveries = try queue.settle([], claiming: .upTo(9)).deliveries
    _ = try queue.settle(deliveries.map { SettledDelivery($0.token, .returned(after: .seconds(30), tried: "retry 30s")) }, claiming: nil)
    let claim = try queue.settle([], claiming: .upTo(9))
    #expect(claim.deliveries.isEmpty)
    #expect(claim.next == .seconds(20))
    test.clock.pass(.seconds(20))
    #expect(try queue.settle([], claiming: .upTo(9)).deliveries.map(\.text) == ["b"])
    test.clock.pass(.seconds(10))
    let late = try queue.settle([], claiming: .upTo(9)).deliveries
    #expect(late.map(\.text) == ["a"])
    #expect(late.map(\.attempt) == [2])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a deliverer that is late is refused, and one that closes gives back`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (slow, other) = (try open(test, ["a"]), try test.open())
    let late = try #require(try slow.settle([], claiming: .upTo(1)).deliveries.first)
    test.clock.pass(.seconds(11))
    let taken = try #require(try other.settle([], claiming: .upTo(1)).deliveries.first)
    #expect((taken.attempt, taken.deaths) == (1, 0))
    let answer = SettledDelivery(late.token, .over(.delivered, answer: nil))
    #expect(try slow.settle([answer], claiming: nil).refused == [late.token])
    #expect(try slow.renewDeliveries([late.token], for: .seconds(5)) == [late.token])
    #expect(try other.renewDeliveries([taken.token], for: .seconds(5)) == [])
    other.close()
    #expect(try slow.settle([], claiming: .upTo(1)).deliveries.map(\.text) == ["a"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a result that was with two senders that ended is a suspect, and goes alone`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, ["a", "b"])
    for isAlone in [false, false] {
      let deliveries = try queue.settle([], claiming: .upTo(1)).deliveries
      #expect(deliveries.map(\.text) == ["a"])
      _ = try queue.settle(
        deliveries.map { SettledDelivery($0.token, .senderEnded(isAlone: isAlone, tried: "ended with status 3")) }, claiming: nil)
    }
    let claim = try queue.settle([], claiming: .upTo(9))
    #expect(claim.deliveries.map(\.text) == ["b"])
    #expect(claim.hasSuspects)
    #expect(claim.next == .zero)
    let alone = try queue.settle([], claiming: DeliveryRequest(limit: 9, span: .seconds(10), isAlone: true)).deliveries
    #expect(alone.map(\.text) == ["a"])
    #expect(alone.map(\.deaths) == [2])
    _ = try queue.settle(alone.map { SettledDelivery($0.token, .senderEnded(isAlone: true, tried: "x")) }, claiming: nil)
    let again = try queue.settle([], claiming: DeliveryRequest(limit: 9, span: .seconds(10), isAlone: true)).deliveries
    #expect(again.map(\.deathsAlone) == [1])
  }

  @Test(arguments: QueueBackend.allCases)
  func `in order, nothing is given before an earlier payload that is undecided or waits`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d"])
    let leases = try queue.lease()
    _ = try queue.finish([leases[0], leases[1], leases[3]].map { $0.finished() })
    let inOrder = DeliveryRequest(limit: 9, span: .seconds(10), isOrdered: true)
    let first = try queue.settle([], claiming: inOrder)
    #expect(first.deliveries.map(\.text) == ["a", "b"])
    _ = try queue.finish([leases[2].finished()])
    let rest = try queue.settle(
      [SettledDelivery(first.deliveries[1].token, .returned(after: .seconds(5), tried: "retry"))], claiming: inOrder)
    #expect(rest.deliveries.isEmpty)
    test.clock.pass(.seconds(5))
    #expect(try queue.settle([], claiming: inOrder).deliveries.map(\.text) == ["b", "c", "d"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `in order, a suspect waits for what stands before it, and a claim for it alone says that there is more`(_ backend: QueueBackend)
    throws
  {
    let test = try TestQueue(backend)
    let queue = try open(test, ["a", "b"])
    let inOrder = DeliveryRequest(limit: 9, span: .seconds(10), isOrdered: true)
    let alone = DeliveryRequest(limit: 9, span: .seconds(10), isAlone: true, isOrdered: true)
    for _ in 0..<2 {
      let deliveries = try queue.settle([], claiming: inOrder).deliveries
      #expect(deliveries.map(\.text) == ["a", "b"])
      _ = try queue.settle(
        [
          SettledDelivery(deliveries[0].token, .returned(after: .zero, tried: "retry")),
          SettledDelivery(deliveries[1].token, .senderEnded(isAlone: false, tried: "x")),
        ], claiming: nil)
    }
    let vain = try queue.settle([], claiming: alone)
    #expect(vain.deliveries.isEmpty && !vain.hasSuspects && vain.next == .zero)
    let first = try queue.settle([], claiming: inOrder)
    #expect(first.deliveries.map(\.text) == ["a"] && first.hasSuspects)
    _ = try queue.settle([SettledDelivery(first.deliveries[0].token, .over(.delivered, answer: nil))], claiming: nil)
    #expect(try queue.settle([], claiming: alone).deliveries.map(\.text) == ["b"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `deliverers share a queue, an ordered one and a reader have it for themselves`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (one, two, three) = (try test.open(), try test.open(), try test.open())
    try one.shareDelivery(.amongDeliverers)
    try two.shareDelivery(.amongDeliverers)
    for share in [DeliveryShare.ordered, .reader] {
      #expect(throws: QueueError.self) { try three.shareDelivery(share) }
    }
    one.close()
    two.close()
    try three.shareDelivery(.reader)
    let four = try test.open()
    #expect(throws: QueueError.self) { try four.shareDelivery(.amongDeliverers) }
  }

  @Test(arguments: QueueBackend.allCases)
  func `what a deliverer holds is neither retried nor purged, and what is undelivered is purged only when asked for`(
    _ backend: QueueBackend
  )
    throws
  {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let leases = try queue.lease()
    _ = try queue.finish(leases.map { $0.finished(.fallback, reason: .deadline) })
    let held = try queue.settle([], claiming: .upTo(1)).deliveries
    #expect(held.map(\.text) == ["a"])
    _ = try queue.markRead([2])
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: false).payloads == 1)
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 1)
    #expect(try queue.retry(nil) == 0)
    #expect(try queue.settle([SettledDelivery(held[0].token, .over(.dropped, answer: "gone"))], claiming: nil).refused == [])
    #expect(try queue.retry(nil) == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `the history of a payload says what has happened to it, by its number and by its key`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let start = test.clock.wall
    _ = try queue.enqueue([NewPayload("a") { $0.key = [1, 2, 3] }])
    let lease = try queue.leaseOne()
    _ = try queue.giveBack([ReturnedPayload(lease.token, after: .seconds(1), wasTried: true, text: "dns.failed")])
    test.clock.pass(.seconds(1))
    try queue.finishAll(.fallback, reason: .deadline)
    let delivery = try #require(try queue.settle([], claiming: .upTo(1)).deliveries.first)
    _ = try queue.settle([SettledDelivery(delivery.token, .returned(after: .seconds(2), tried: "retry 2s"))], claiming: nil)
    #expect(try queue.history(of: 1)?.result?.delivery == .waiting)
    test.clock.pass(.seconds(2))
    let again = try #require(try queue.settle([], claiming: .upTo(1)).deliveries.first)
    _ = try queue.settle(
      [SettledDelivery(again.token, .over(.poison, answer: "ended 3 senders while no other result was in flight"))], claiming: nil)

    let history = try #require(queue.histories(of: queue.ids { $0.keys = [[1, 2, 3]] }).first)
    #expect(history.id == 1 && history.enqueuedAt == start && history.work == nil)
    #expect(history.tries.map(\.text) == ["dns.failed", "retry 2s"])
    #expect(history.tries.map(\.stage) == [.work, .delivery])
    #expect(history.tries.map(\.attempt) == [1, 1])
    #expect(history.tries.map(\.moment) == [start, start + .seconds(1)])
    let result = try #require(history.result)
    #expect((result.outcome, result.reason, result.isDead) == ("fallback", "deadline", false))
    #expect((result.status, result.answer, result.delivery) == ("poison", "ended 3 senders while no other result was in flight", nil))
    #expect((result.finishedAt, result.deliveredAt) == (start + .seconds(1), start + .seconds(3)))
    #expect(try queue.history(of: 2) == nil)
    #expect(try queue.ids { $0.state = .dead } == [1])
  }

  @Test(arguments: QueueBackend.allCases)
  func `what was dropped or given up is delivered again when somebody asks for it, and nothing else`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, ["a", "b", "c", "d"])
    let deliveries = try queue.settle([], claiming: .upTo(9)).deliveries
    let statuses: [DeliveryStatus] = [.delivered, .dropped, .poison, .expired]
    _ = try queue.settle(zip(deliveries, statuses).map { SettledDelivery($0.token, .over($1, answer: nil)) }, claiming: nil)
    #expect(try queue.counts().unread == 0)
    #expect(try queue.redeliver() == 2)
    #expect(try queue.counts().unread == 2)
    let again = try queue.settle([], claiming: .upTo(9)).deliveries
    #expect(again.map(\.text) == ["b", "c"])
    #expect(again.map(\.deaths) == [0, 0])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a text of a sender may have any characters`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, ["a", "b"])
    let deliveries = try queue.settle([], claiming: .upTo(2)).deliveries
    let text = "a\0\u{301}b\u{FFFF}" + String(repeating: "é", count: 200)
    let dispositions: [SettledDelivery.Disposition] = [.over(.dropped, answer: text), .returned(after: .zero, tried: text)]
    #expect(try queue.settle(zip(deliveries, dispositions).map { SettledDelivery($0.token, $1) }, claiming: nil).refused == [])
    #expect(try queue.history(of: 1)?.result?.answer?.utf8.first == UInt8(ascii: "a"))
    #expect(try queue.history(of: 2)?.tries.map(\.text.utf8.first) == [UInt8(ascii: "a")])
  }

  @Test(arguments: QueueBackend.allCases)
  func `of many tries the last ones are remembered`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try open(test, ["a"])
    for number in 1...40 {
      let deliveries = try queue.settle([], claiming: .upTo(1)).deliveries
      _ = try queue.settle(deliveries.map { SettledDelivery($0.token, .returned(after: .zero, tried: "\(number)")) }, claiming: nil)
    }
    #expect(try queue.history(of: 1)?.tries.map(\.text) == (9...40).map { "\($0)" })
  }
}

extension DeliveryRequest {
  fileprivate static func upTo(_ limit: Int) -> DeliveryRequest { DeliveryRequest(limit: limit, span: .seconds(10)) }
}

extension Delivery {
  fileprivate var text: String { String(decoding: line.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
}
