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

  private func reject(_ id: Int64, _ state: inout DelivererState, _ reason: String = "status 401: no") {
    answer(id, .rejected(reason: reason), &state)
  }

  private func dropped(_ state: DelivererState) -> [Int64] {
    state.settled.compactMap { if case .over(.dropped, _) = $0.disposition { $0.token.id } else { nil } }
  }

  @Test("A rejection is the result's own fault when the service accepts another one")
  func rejectsOne() {
    var state = state(isOrdered: false)
    claim(1...5, for: &state)
    _ = next(&state)
    reject(1, &state)
    reject(2, &state, "status 404")
    #expect(state.settled.isEmpty && state.pause == nil)
    answer(3, .retry(after: .seconds(1), reason: "status 503"), &state)
    #expect(dropped(state).isEmpty)
    answer(4, .delivered(status: "200"), &state)
    #expect(dropped(state) == [1, 2])
    // No row is left.
    reject(5, &state)
    #expect(state.pause == nil)
  }

  @Test("Three different results in a row with the same rejection come back without a try, and one at a time asks again")
  func rejectsAll() {
    var state = state(isOrdered: false)
    claim(1...8, for: &state)
    _ = next(&state)
    for id in [1, 2, 3, 4] as [Int64] { reject(id, &state, "status 401: request \(id)") }
    answer(5, .retry(after: nil, reason: "status 503"), &state)
    for id in [6, 7] as [Int64] { reject(id, &state) }
    answer(8, .unanswered, &state)
    #expect(state.pause?.why.hasPrefix("status 401: request 3; 3 payloads in a row got this answer: check --http") == true)
    #expect(dropped(state).isEmpty && state.result.retried == 1)
    let back = state.settled.compactMap { if case .returned(let span, nil) = $0.disposition { (id: $0.token.id, span: span) } else { nil } }
    #expect(back.map(\.id) == [1, 2, 3, 4, 6, 7, 8])
    // Others are asked first when the pause of a second is over.
    #expect(back.dropLast().allSatisfy { $0.span == .seconds(2) })
    let later = now.advanced(by: .seconds(1))
    state.taken(state.settled.count, DeliveryClaim())
    guard let request = state.request(at: later) else {
      Issue.record("the deliverer must ask the queue")
      return
    }
    note(1...9, for: request, &state)
    #expect(state.next(at: later, wall: .zero).map(\.token.id) == [5])
    state.noteSent()
    #expect(state.next(at: later, wall: .zero).isEmpty)
    state.note(LeaseToken(id: 5, fence: 1), .rejected(reason: "status 401"), at: later, wall: .zero, jitter: { 0 })
    #expect(state.pause?.until == later.advanced(by: .seconds(2)))
    let latest = later.advanced(by: .seconds(2))
    #expect(state.next(at: latest, wall: .zero).map(\.token.id) == [8])
    state.noteSent()
    state.note(LeaseToken(id: 8, fence: 1), .delivered(), at: latest, wall: .zero, jitter: { 0 })
    #expect(state.pause == nil)
    #expect(state.next(at: latest, wall: .zero).map(\.token.id) == [1, 2, 3, 4, 6, 7, 9])
  }

  @Test("One result that is rejected again and again, or different answers, are no row")
  func noRow() {
    var state = state(isOrdered: false)
    claim(1...1, for: &state)
    for _ in 1...4 {
      #expect(next(&state) == [1])
      reject(1, &state)
      // The queue has nothing else that could tell.
      let request = DeliveryRequest(limit: 1, span: .seconds(1), isOrdered: false)
      state.note(DeliveryClaim(), of: request, at: now, leasedAt: .zero)
      #expect(dropped(state) == [1] && state.pause == nil)
      state.taken(state.settled.count, DeliveryClaim())
      note(1...1, for: request, &state)
    }
    #expect(next(&state) == [1])
    note(2...7, for: DeliveryRequest(limit: 6, span: .seconds(1), isOrdered: false), &state)
    _ = next(&state)
    for id in 2...7 as ClosedRange<Int64> { reject(id, &state, "status 40\(id % 2)") }
    #expect(state.pause == nil && state.settled.isEmpty)
    state.stop(at: now)
    #expect(state.settled.map(\.token.id) == Array(2...7))
    answer(1, .unanswered, &state)
    #expect(dropped(state).isEmpty)
    state.taken(state.settled.count, DeliveryClaim())
    #expect(state.isDone)
  }

  @Test("In order, the results that were rejected come first again")
  func rejectsInOrder() {
    var state = state(isOrdered: true)
    claim(1...5, for: &state)
    _ = next(&state)
    for id in 1...3 as ClosedRange<Int64> { reject(id, &state) }
    #expect(state.settled.allSatisfy { $0.disposition == .returned(after: .zero, tried: nil) })
  }
}
