@testable import AttacheQueue
import Attache
import Testing

/// When a deliverer gives up a result that is tried again and again.
struct GivingUpTests {
  private let now = MonotonicInstant(nanoseconds: 0)

  private func delivery(_ id: Int64, triedFor: Duration = .zero, expiresAt: Duration? = nil) -> Delivery {
    var delivery = Delivery(
      token: LeaseToken(id: id, fence: 1), line: [], outcome: .attached, reason: nil, attempt: 9, expiresAt: expiresAt, deaths: 0,
      deathsAlone: 0)
    delivery.triedFor = triedFor
    return delivery
  }

  /// Sends deliveries, and returns the dispositions after the answers.
  private func dispositions(_ deliveries: [Delivery], _ answers: [(id: Int64, answer: DeliveryAnswer, after: Duration)]) -> [SettledDelivery
    .Disposition]
  {
    var state = DelivererState(DelivererConfiguration())
    guard let request = state.request(at: now) else { return [] }
    var claim = DeliveryClaim()
    (claim.deliveries, claim.next) = (deliveries, .zero)
    state.note(claim, of: request, at: now, leasedAt: .zero)
    _ = state.next(at: now, wall: .zero)
    for (id, answer, after) in answers {
      state.note(LeaseToken(id: id, fence: 1), answer, at: now.advanced(by: after), wall: .seconds(50), jitter: { 0 })
    }
    return state.settled.map(\.disposition)
  }

  private let later = DeliveryAnswer.retry(after: .seconds(1), reason: "status 503")

  @Test func `a result is given up when its attempts have failed for a day, with its last answer`() {
    let day = delivery(1, triedFor: .seconds(86_400))
    #expect(dispositions([day], [(1, later, .zero)]) == [.over(.timedOut, answer: "status 503")])
    let almost = delivery(1, triedFor: .seconds(86_399))
    #expect(dispositions([almost], [(1, later, .zero)]) == [.returned(after: .seconds(1), tried: "status 503", counts: false)])
  }

  @Test func `an expiry wins over giving up`() {
    let expired = delivery(1, triedFor: .seconds(86_400), expiresAt: .seconds(50))
    #expect(dispositions([expired], [(1, later, .zero)]) == [.over(.expired, answer: "status 503")])
  }

  @Test(arguments: [
    (DeliveryAnswer.delivered(status: "200"), 300, true), (.delivered(status: "200"), 301, false),
    (.dropped(reason: "status 410"), 1, true),
    (.retry(after: nil, reason: "status 500"), 1, false), (.unanswered, 1, false),
  ])
  func `only time counts in which the service answers others`(answer: DeliveryAnswer, seconds: Int, counts: Bool) {
    let ends = dispositions([delivery(1), delivery(2)], [(1, answer, .zero), (2, later, .seconds(seconds))])
    #expect(ends.last == .returned(after: .seconds(1), tried: "status 503", counts: counts))
  }

  @Test func `the pause after a failed attempt is the one asked for or longer`() {
    var state = delivery(1)
    state.attempt = 20
    #expect(state.retryDelay(wall: .zero, jitter: 1) == .seconds(300))
  }
}
