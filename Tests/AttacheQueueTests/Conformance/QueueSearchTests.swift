import Attache
import AttacheQueue
import Testing

@Suite struct QueueSearchTests {
  /// Opens a queue with one payload in each state, whose line is the name of the state.
  private func open(_ test: TestQueue) throws -> any PayloadQueue {
    let queue = try test.open()
    let later = test.clock.wall + .seconds(600)
    _ = try queue.enqueue(
      PayloadState.allCases.map { state in NewPayload(state.rawValue) { if state == .waiting { $0.notBefore = later } } })
    let leases = Dictionary(uniqueKeysWithValues: try queue.lease().map { ($0.text, $0) })
    func lease(_ state: PayloadState) throws -> Lease { try #require(leases[state.rawValue]) }
    _ = try queue.giveBack([ReturnedPayload(lease(.ready).token, wasTried: true, text: "dns.timeout")])
    let decided = PayloadState.decided.filter { $0 != .cancelled && $0 != .dead }
    _ = try queue.finish(decided.map { try lease($0).finished(.fallback, reason: $0 == .dropped ? .deadline : .payloadNoMedia) })
    let dead = try lease(.dead)
    _ = try queue.finish([FinishedPayload(dead.token, outcome: .fallback, reason: .queuePoison, isDead: true, record: dead.record)])
    let deliveries = try queue.settle([], claiming: DeliveryRequest(limit: 100, span: .seconds(10))).deliveries
    let endings: [PayloadState: DeliveryStatus] = [.delivered: .delivered, .dropped: .dropped, .expired: .expired, .timedOut: .timedOut]
    let settled = deliveries.map { delivery -> SettledDelivery in
      let status = PayloadState(rawValue: delivery.text).flatMap { endings[$0] }
      return SettledDelivery(
        delivery.token, status.map { .over($0, answer: "status 410 \($0)") } ?? .returned(after: .zero, tried: "status 503"))
    }
    _ = try queue.settle(settled, claiming: nil)
    _ = try queue.giveBack([ReturnedPayload(lease(.cancelled).token, wasTried: false)])
    #expect(try queue.cancel([lease(.cancelled).token.id], "by hand").payloads == 1)
    return queue
  }

  @Test(arguments: QueueBackend.allCases)
  func `each payload is in one state, which counts and lists alike`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    defer { withExtendedLifetime(test) {} }
    let queue = try open(test)
    let counts = try queue.counts()
    for state in PayloadState.allCases {
      #expect(counts[state] == 1, "\(state)")
      let ids = try queue.ids { $0.state = state }
      #expect(try queue.histories(of: ids).map(\.state) == [state])
      #expect(try ids.map { try #require(try queue.content(of: $0)).line } == [Array("\(state.rawValue)\n".utf8)])
    }
    #expect(counts.total == PayloadState.allCases.count)
    #expect(counts.unread == 2)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload that is due is ready, although no worker has looked`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["tried"])
    let later = test.clock.wall + .seconds(10)
    _ = try queue.giveBack([ReturnedPayload(queue.leaseOne().token, after: .seconds(20), wasTried: true, text: "dns.failed")])
    _ = try queue.enqueue([NewPayload("scheduled") { $0.notBefore = later }, NewPayload("last") { $0.notBefore = later + .seconds(600) }])
    for (seconds, ready) in [(9, []), (1, [2]), (10, [1, 2])] as [(Int, [Int64])] {
      test.clock.pass(.seconds(seconds))
      let waiting = ([1, 2, 3] as [Int64]).filter { !ready.contains($0) }
      let counts = try queue.counts()
      #expect((counts[.ready], counts[.waiting]) == (ready.count, waiting.count))
      #expect((counts.oldest[.ready] != nil) == !ready.isEmpty)
      #expect(try queue.ids { $0.state = .ready } == ready)
      #expect(try queue.ids { $0.state = .waiting } == waiting)
      #expect(try queue.ids { ($0.state, $0.line) = (.ready, 2) } == ready.filter { $0 == 2 })
      #expect(try queue.ids { ($0.state, $0.line) = (.waiting, 2) } == waiting.filter { $0 == 2 })
      let histories = try queue.histories(of: [1, 2, 3])
      #expect(histories.filter { $0.state == .ready }.map(\.id) == ready)
      #expect(histories.filter { $0.state == .ready }.allSatisfy { $0.dueAt == nil })
    }
  }

  @Test(arguments: QueueBackend.allCases)
  func `reason, answer and key select, alone and with a state`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    defer { withExtendedLifetime(test) {} }
    let queue = try open(test)
    func states(_ change: (inout PayloadFilter) -> Void) throws -> [PayloadState] {
      try queue.histories(of: queue.ids(change)).map(\.state)
    }
    #expect(try states { $0.reason = .deadline } == [.dropped])
    #expect(try states { $0.reason = .payloadNoMedia } == [.done, .delivered, .expired, .timedOut])
    #expect(try states { ($0.reason, $0.state) = (.payloadNoMedia, .expired) } == [.expired])
    #expect(try states { ($0.reason, $0.state) = (.deadline, .expired) } == [])
    #expect(try states { $0.answer = "503" } == [.done, .dead])
    #expect(try states { $0.answer = "410 dropped" } == [.dropped])
    #expect(try states { $0.answer = "dns." } == [.ready])
    #expect(try states { ($0.answer, $0.state) = ("by hand", .cancelled) } == [.cancelled])
    _ = try queue.enqueue([
      NewPayload("x") { ($0.key, $0.searchKey) = ([1], [7]) }, NewPayload("y") { $0.searchKey = [7] },
      NewPayload("z") { ($0.key, $0.priority) = ([7], 2) },
    ])
    #expect(try queue.ids { $0.keys = [[7]] } == [11, 12, 13])
    #expect(try queue.ids { $0.keys = [[1], [2]] } == [11])
    #expect(try queue.ids { ($0.keys, $0.state) = ([[7]], .ready) } == [11, 12, 13])
    #expect(try queue.ids { ($0.keys, $0.state) = ([[7]], .waiting) } == [])
    #expect(try queue.ids { $0.state = .ready } == [1, 11, 12, 13])
    #expect(try queue.histories(of: [11]).map(\.searchKey) == [[7]])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a list goes on where it ended, and begins at a time`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    for number in 0..<10 {
      _ = try queue.enqueue([NewPayload("\(number)") { $0.priority = number % 3 }])
      test.clock.pass(.seconds(1))
    }
    for state in [PayloadState.ready, nil] {
      var filter = PayloadFilter()
      filter.state = state
      #expect(try queue.find(filter, after: 0, limit: 4) == PayloadMatches(ids: [1, 2, 3, 4], last: 4, isAtEnd: false))
      #expect(try queue.find(filter, after: 8, limit: 4) == PayloadMatches(ids: [9, 10], last: 10, isAtEnd: true))
      #expect(try queue.find(filter, after: 10, limit: 4) == PayloadMatches(last: 10, isAtEnd: true))
      filter.since = test.clock.wall - .seconds(3)
      #expect(try queue.find(filter, after: 0, limit: 4).ids == [8, 9, 10])
      filter.since = test.clock.wall
      #expect(try queue.find(filter, after: 0, limit: 4).ids == [])
    }
  }

  @Test(arguments: QueueBackend.allCases)
  func `a search that no index helps says how far it looked`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    defer { withExtendedLifetime(test) {} }
    let queue = try test.open()
    let count = PayloadSearch.reach + 10
    _ = try queue.enqueue((1...count).map { number in NewPayload("") { $0.searchKey = number == count ? [1] : nil } })
    var filter = PayloadFilter()
    filter.answer = "x"
    #expect(try queue.find(filter, after: 0, limit: 4) == PayloadMatches(last: Int64(PayloadSearch.reach), isAtEnd: false))
    #expect(try queue.find(filter, after: Int64(PayloadSearch.reach), limit: 4) == PayloadMatches(last: Int64(count), isAtEnd: true))
    #expect(try queue.ids { $0.keys = [[1]] } == [Int64(count)])
    #expect(try PayloadChange(PayloadFilter(.cancellation), of: queue).count() == count)
  }

  // MARK: Changes

  @Test(arguments: QueueBackend.allCases)
  func `what is cancelled is not worked, not delivered, and not retried unless somebody asks for it`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d"])
    let leases = try queue.lease(3)
    _ = try queue.finish([leases[0].finished(.attached, output: "A\n"), leases[1].finished(.fallback, reason: .payloadNoMedia)])
    let held = try queue.settle([], claiming: DeliveryRequest(limit: 1, span: .seconds(10))).deliveries
    let filter = PayloadFilter(.cancellation)
    #expect(try PayloadChange(filter, of: queue).count() == 4)
    #expect(try PayloadChange(filter, of: queue).run { ids throws(QueueError) in try queue.cancel(ids, "not wanted").payloads } == 2)
    #expect(try queue.ids { $0.state = .cancelled } == [2, 4])
    let histories = try queue.histories(of: [2, 4])
    #expect(histories.map(\.result?.answer) == ["not wanted", "not wanted"])
    #expect(histories.map(\.result?.reason) == ["payload.no-media", "queue.cancelled"])
    #expect(try queue.lease() == [])
    #expect(try queue.settle(held.map { SettledDelivery($0.token, .over(.delivered, answer: nil)) }, claiming: nil).refused == [])
    let claim = try queue.settle([], claiming: DeliveryRequest(limit: 9, span: .seconds(10)))
    #expect(claim.deliveries == [] && claim.hasUndecided)
    #expect(try queue.retry(nil) == 0)
    #expect(try queue.redeliver() == 0)
    for reason in [Reason.payloadNoMedia, .queueCancelled] {
      var filter = PayloadFilter(.retry)
      filter.reason = reason
      #expect(try PayloadChange(filter, of: queue).count() == 0)
    }
    #expect(try queue.lines() == ["A\n", "b\n", "d\n"])
    var cancelled = PayloadFilter(.retry)
    cancelled.state = .cancelled
    #expect(try PayloadChange(cancelled, of: queue).run { ids throws(QueueError) in try queue.retry(ids) } == 2)
    #expect(try queue.lease().map(\.text) == ["b", "d"])
    let counts = try queue.counts()
    #expect((counts[.cancelled], counts[.leased], counts[.delivered], counts.unread) == (0, 3, 1, 0))
  }

  @Test(arguments: QueueBackend.allCases)
  func `a result that timed out or was cancelled is delivered again when somebody asks for its state`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    defer { withExtendedLifetime(test) {} }
    let queue = try open(test)
    for (state, count) in [(PayloadState.expired, 1), (.timedOut, 1), (.cancelled, 1), (.delivered, 0)] {
      var filter = PayloadFilter(.redelivery)
      filter.state = state
      #expect(try PayloadChange(filter, of: queue).run { ids throws(QueueError) in try queue.redeliver(ids) } == count)
    }
    let counts = try queue.counts()
    #expect((counts[.done], counts[.expired], counts[.timedOut], counts[.cancelled], counts[.delivered]) == (4, 0, 0, 0, 1))
  }

  @Test(arguments: QueueBackend.allCases)
  func `a history says who has a payload and when it is ready again`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let leases = try queue.lease(2, for: .seconds(30))
    _ = try queue.giveBack([ReturnedPayload(leases[0].token, after: .seconds(20), wasTried: true, text: "dns.failed")])
    let histories = try queue.histories(of: [1, 2, 3])
    #expect(histories.map(\.dueAt) == [test.clock.wall + .seconds(20), test.clock.wall + .seconds(30), nil])
    #expect(histories.map { $0.holder != nil } == [false, true, false])
  }
}

extension Delivery {
  fileprivate var text: String { String(decoding: line.dropLast(), as: UTF8.self) }
}
