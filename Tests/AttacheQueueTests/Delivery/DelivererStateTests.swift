import Attache
import Testing

@testable import AttacheQueue

@Suite("A deliverer's book")
struct DelivererStateTests {
  private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

  private func delivery(_ id: Int64) -> Delivery {
    Delivery(
      token: LeaseToken(id: id, fence: 1), line: Array("{\"number\":\(id)}\n".utf8), outcome: .passthrough, reason: nil, attempt: 1,
      expiresAt: nil, deaths: 0, deathsAlone: 0)
  }

  private func state(isOrdered: Bool) -> DelivererState {
    var configuration = DelivererConfiguration()
    configuration.isOrdered = isOrdered
    return DelivererState(configuration)
  }

  /// Lets the queue answer the current request with results.
  private func claim(_ ids: ClosedRange<Int64>, for state: inout DelivererState) {
    guard let request = state.request(at: now) else { return }
    note(ids, for: request, &state)
  }

  private func note(_ ids: ClosedRange<Int64>, for request: DeliveryRequest, _ state: inout DelivererState) {
    var claim = DeliveryClaim()
    claim.deliveries = ids.map(delivery)
    claim.next = .zero
    state.note(claim, of: request, at: now, leasedAt: .zero)
  }

  private func next(_ state: inout DelivererState) -> [Int64] {
    let next = state.next(at: now, wall: .zero).map(\.token.id)
    state.noteSent()
    return next
  }

  private func answer(_ id: Int64, _ answer: DeliveryAnswer, _ state: inout DelivererState) {
    state.note(LeaseToken(id: id, fence: 1), answer, at: now, wall: .zero, jitter: { 0 })
  }

  @Test(
    "In order, a result that comes back while the queue is asked comes before what the queue gives; without order it holds nobody up",
    arguments: [true, false])
  func comesBack(isOrdered: Bool) {
    var state = state(isOrdered: isOrdered)
    claim(1...2, for: &state)
    #expect(next(&state) == [1, 2])
    answer(1, .delivered(), &state)
    let told = state.settled.count
    guard let request = state.request(at: now) else {
      Issue.record("the deliverer must ask the queue")
      return
    }
    answer(2, .retry(after: .zero, reason: "later"), &state)
    state.taken(told, DeliveryClaim())
    note(3...4, for: request, &state)
    #expect(next(&state) == (isOrdered ? [] : [3, 4]))
    #expect(state.settled.map(\.token.id) == (isOrdered ? [2, 3, 4] : [2]))
  }

  @Test("While one thread gives results to the sender, no other gets any to overtake it with")
  func sending() {
    var state = state(isOrdered: false)
    claim(1...2, for: &state)
    #expect(state.next(at: now, wall: .zero).count == 2)
    answer(1, .delivered(), &state)
    claim(3...3, for: &state)
    #expect(state.next(at: now, wall: .zero).isEmpty)
    state.noteSent()
    #expect(next(&state) == [3])
  }

  // MARK: A service that rejects results

  /// A deliverer whose sender has these results.
  private func sending(_ ids: ClosedRange<Int64>, isOrdered: Bool = false, isOnce: Bool = false) -> DelivererState {
    var configuration = DelivererConfiguration()
    (configuration.isOrdered, configuration.isOnce) = (isOrdered, isOnce)
    var state = DelivererState(configuration)
    claim(ids, for: &state)
    _ = next(&state)
    return state
  }

  private func reject(_ id: Int64, _ state: inout DelivererState, _ reason: String = "status 401: no") {
    answer(id, .rejected(reason: reason), &state)
  }

  private func dropped(_ state: DelivererState) -> [Int64] {
    state.settled.compactMap { if case .over(.dropped, _) = $0.disposition { $0.token.id } else { nil } }
  }

  @Test("A rejection is the result's own fault when the service accepts another one")
  func rejectsOne() {
    var state = sending(1...4)
    reject(1, &state)
    reject(2, &state, "status 404")
    answer(3, .retry(after: .seconds(1), reason: "status 503"), &state)
    // This one is refused for itself, whatever the endpoint thinks of others.
    answer(4, .dropped(reason: "status 413"), &state)
    #expect(dropped(state) == [4] && state.pause == nil)
    note(5...7, for: empty, &state)
    _ = next(&state)
    answer(5, .delivered(status: "200"), &state)
    #expect(dropped(state) == [4, 1, 2])
    // No row is left, and 7 was sent before 6 was refused: its acceptance tells nothing.
    reject(6, &state)
    answer(7, .delivered(), &state)
    #expect(state.pause == nil && dropped(state) == [4, 1, 2])
  }

  @Test("Three results in a row that are rejected are held, one other at a time asks, and they are sent again", arguments: [true, false])
  func rejectsAll(isOrdered: Bool) {
    var state = sending(1...6, isOrdered: isOrdered)
    for id in [1, 2, 3, 4] as [Int64] { reject(id, &state, "status 40\(id % 2): request \(id)") }
    #expect(state.pause?.why.hasPrefix("status 401: request 3; 3 payloads in a row were refused: check the flags of the receiver") == true)
    answer(5, .retry(after: nil, reason: "status 503"), &state)
    answer(6, .unanswered, &state)
    #expect(state.pause?.until == now.advanced(by: .seconds(1)) && dropped(state).isEmpty && state.result.retried == 1)
    #expect(state.settled.map(\.token.id) == [5, 6])
    state.taken(state.settled.count, DeliveryClaim())
    let later = now.advanced(by: .seconds(1))
    guard let request = state.request(at: later) else {
      Issue.record("the deliverer must ask the queue")
      return
    }
    note(7...9, for: request, &state)
    func send(at instant: MonotonicInstant) -> [Int64] {
      let next = state.next(at: instant, wall: .zero).map(\.token.id)
      state.noteSent()
      return next
    }
    #expect(send(at: later) == [7] && send(at: later) == [])
    state.note(LeaseToken(id: 7, fence: 1), .rejected(reason: "status 401"), at: later, wall: .zero, jitter: { 0 })
    #expect(state.pause?.until == later.advanced(by: .seconds(2)))
    let latest = later.advanced(by: .seconds(2))
    // Each pause is followed by four times as many questions as the one before.
    #expect(send(at: latest) == [8, 9])
    state.note(LeaseToken(id: 8, fence: 1), .delivered(), at: latest, wall: .zero, jitter: { 0 })
    #expect(state.pause == nil && dropped(state).isEmpty)
    #expect(send(at: latest) == [1, 2, 3, 4, 7])
    // Rejected as before, although the service accepts others.
    state.note(LeaseToken(id: 1, fence: 1), .rejected(reason: "status 401: again"), at: latest, wall: .zero, jitter: { 0 })
    #expect(dropped(state) == [1])
    state.note(LeaseToken(id: 2, fence: 1), .delivered(), at: latest, wall: .zero, jitter: { 0 })
    #expect(state.result.ended == [.delivered: 2, .dropped: 1])
  }

  @Test("A run of results that are at fault is over after three pauses, and those behind it are sent")
  func rejectsRun() {
    var state = sending(1...30)
    answer(1, .delivered(), &state)
    for id in 2...30 as ClosedRange<Int64> { reject(id, &state, "status 410") }
    var (instant, id, pauses) = (now, 31 as Int64, 0)
    // The sender got 30 at once. Of those behind them, the first five are at fault.
    while let pause = state.pause {
      pauses += 1
      instant = max(pause.until, instant)
      guard let request = state.request(at: instant) else { break }
      note(id...(id + Int64(request.limit) - 1), for: request, &state)
      let sent = state.next(at: instant, wall: .zero).map(\.token)
      state.noteSent()
      id += Int64(request.limit)
      for token in sent {
        state.note(token, token.id <= 35 ? .rejected(reason: "status 410") : .delivered(), at: instant, wall: .zero, jitter: { 0 })
      }
    }
    #expect(pauses == 3 && instant == now.advanced(by: .seconds(7)) && dropped(state) == [])
    let again = state.next(at: instant, wall: .zero).map(\.token)
    #expect(again.count == 34)
    for token in again { state.note(token, .rejected(reason: "status 410"), at: instant, wall: .zero, jitter: { 0 }) }
    #expect(dropped(state) == Array(2...35))
  }

  @Test("At the end of a run, a result is dropped for an answer that was others' own fault")
  func endsWithFaults() {
    var state = sending(1...6, isOnce: true)
    reject(1, &state, "status 410")
    note(7...9, for: empty, &state)
    _ = next(&state)
    answer(7, .delivered(), &state)
    #expect(dropped(state) == [1])
    for id in [2, 3, 4, 5, 6, 8, 9] as [Int64] { reject(id, &state, id == 2 ? "status 401" : "status 410") }
    var instant = now.advanced(by: .seconds(1))
    state.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
    for _ in 0..<12 {
      instant = max(instant, state.pause?.until ?? instant)
      let sent = state.next(at: instant, wall: .zero).map(\.token)
      state.noteSent()
      for token in sent {
        state.note(token, .rejected(reason: token.id == 2 ? "status 401" : "status 410"), at: instant, wall: .zero, jitter: { 0 })
      }
      state.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
    }
    #expect(dropped(state).sorted() == [1, 3, 4, 5, 6, 8, 9] && state.leftovers == 1)
  }

  @Test("If others were accepted just before, three rejections do not pause at once")
  func acceptedBefore() {
    var state = sending(1...6)
    answer(1, .delivered(), &state)
    for id in [2, 3, 4] as [Int64] { reject(id, &state) }
    #expect(state.pause == nil)
    reject(5, &state)
    #expect(state.pause != nil)
    // It was sent before.
    answer(6, .delivered(), &state)
    #expect(state.pause != nil && next(&state) == [])
  }

  private let empty = DeliveryRequest(limit: 1, span: .seconds(1), isOrdered: false)

  @Test("A result that nothing excuses or accuses is asked about again, and never dropped")
  func onlyOne() {
    var state = sending(1...1)
    var instant = now
    for pause in [1, 2, 4] as [Int64] {
      state.note(LeaseToken(id: 1, fence: 1), .rejected(reason: "status 404"), at: instant, wall: .zero, jitter: { 0 })
      state.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
      #expect(dropped(state).isEmpty && state.pause == nil)
      #expect(state.takeMessages() == ["payload 1 waits until the endpoint accepts another one, and is sent again meanwhile: status 404"])
      #expect(state.next(at: instant, wall: .zero).isEmpty)
      instant = instant.advanced(by: .seconds(pause))
      #expect(state.next(at: instant, wall: .zero).map(\.token.id) == [1])
      state.noteSent()
    }
    #expect(state.leftovers == nil)
    state.note(LeaseToken(id: 1, fence: 1), .rejected(reason: "status 404"), at: instant, wall: .zero, jitter: { 0 })
    state.stop(at: instant)
    #expect(state.settled.map(\.disposition) == [.returned(after: .zero, tried: nil)])
    state.taken(1, DeliveryClaim())
    #expect(state.isDone)
  }

  @Test("A run that ends at the end of the queue leaves what is rejected again and again, and drops it if another was accepted")
  func onlyOnce() {
    var state = sending(1...1, isOnce: true)
    var instant = now
    for pause in [1, 2, 4] as [Int64] {
      state.note(LeaseToken(id: 1, fence: 1), .rejected(reason: "status 404"), at: instant, wall: .zero, jitter: { 0 })
      state.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
      #expect(state.leftovers == nil)
      instant = instant.advanced(by: .seconds(pause))
      _ = state.next(at: instant, wall: .zero)
      state.noteSent()
    }
    state.note(LeaseToken(id: 1, fence: 1), .rejected(reason: "status 404"), at: instant, wall: .zero, jitter: { 0 })
    state.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
    #expect(state.leftovers == 1)
    var other = sending(1...2, isOnce: true)
    answer(1, .delivered(), &other)
    reject(2, &other)
    other.note(DeliveryClaim(), of: empty, at: now, leasedAt: .zero)
    #expect(dropped(other).isEmpty)
    instant = now.advanced(by: .seconds(1))
    #expect(other.next(at: instant, wall: .zero).map(\.token.id) == [2])
    other.noteSent()
    other.note(LeaseToken(id: 2, fence: 1), .rejected(reason: "status 401"), at: instant, wall: .zero, jitter: { 0 })
    other.note(DeliveryClaim(), of: empty, at: instant, leasedAt: .zero)
    #expect(dropped(other) == [2])
  }

  @Test("A stopped deliverer gives back what it holds")
  func stops() {
    var state = sending(1...4)
    reject(1, &state)
    state.stop(at: now)
    reject(2, &state)
    answer(3, .delivered(), &state)
    answer(4, .unanswered, &state)
    #expect(state.settled.map(\.token.id) == [1, 2, 3, 4] && dropped(state).isEmpty)
    state.taken(4, DeliveryClaim())
    #expect(state.isDone)
  }
}
