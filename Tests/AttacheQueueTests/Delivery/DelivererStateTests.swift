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
}
