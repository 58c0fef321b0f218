import Testing

@testable import Attache

@Suite struct OriginHealthTests {
  private static let start = MonotonicInstant(nanoseconds: 5_000_000_000)

  private static func at(_ milliseconds: Int) -> MonotonicInstant { start.advanced(by: .milliseconds(milliseconds)) }

  /// The health after a request whose first exchange began at 0, as seen at a time in milliseconds.
  private func health(at time: Int = 0, isSent: Bool = true, _ change: (inout OriginHealth) -> Void) -> OriginHealth {
    var health = OriginHealth()
    health.begin(at: Self.start)
    change(&health)
    return health.ended(isSent: isSent, at: Self.at(time))
  }

  @Test func `one answer counts more than failed attempts before and after it`() {
    let health = health(at: 9_000) { health in
      health.end(.absence, isCutOff: false)
      health.begin(at: Self.at(1_000))
      health.receive(.life)
      health.end(nil, isCutOff: false)
      health.begin(at: Self.at(2_000))
      health.end(.silence, isCutOff: false)
    }
    #expect(health == OriginHealth(.life, since: Self.start))
  }

  @Test func `a body that its connection cuts off is no answer`() {
    #expect(
      health {
        $0.receive(.life); $0.end(nil, isCutOff: true)
      }.signal == .silence)
    #expect(
      health {
        $0.receive(nil); $0.end(nil, isCutOff: true)
      }.signal == nil)
  }

  @Test func `an origin has a fair time to answer, from when the request was sent`() {
    #expect(health(at: 999) { _ in }.signal == nil)
    #expect(health(at: 1_000) { _ in }.signal == .silence)
    #expect(health(at: 60_000, isSent: false) { _ in }.signal == nil)
    #expect(OriginHealth().ended(isSent: false, at: Self.at(60_000)) == OriginHealth())
  }

  @Test func `a body that comes slowly is a sign of life, a gateway's error is none`() {
    #expect(health(at: 60_000) { $0.receive(.life) }.signal == .life)
    #expect(health(at: 60_000) { $0.receive(.silence) }.signal == .silence)
  }

  @Test func `what says nothing leaves what is known`() {
    #expect(health(at: 5_000) { $0.end(nil, isCutOff: false) }.signal == nil)
    let failed = health(at: 5_000) { health in
      health.end(.absence, isCutOff: false)
      health.begin(at: Self.at(4_999))
    }
    #expect(failed == OriginHealth(.absence, since: Self.start))
  }
}
