import Testing

@testable import Attache

@Suite struct RetryPolicyTests {
  private let now = MonotonicInstant(nanoseconds: 0)
  private let policy = RetryPolicy(retries: 2)

  private func wait(tries: Int, budget: Duration, asked: Duration? = nil, jitter: Double) -> Duration? {
    policy.next(after: tries, now: now, budgetEnds: now.advanced(by: budget), asked: asked, jitter: jitter).map { now.duration(to: $0) }
  }

  @Test func `the wait doubles, and jitter takes any part of it`() {
    #expect(wait(tries: 1, budget: .seconds(30), jitter: 1) == .milliseconds(100))
    #expect(wait(tries: 2, budget: .seconds(30), jitter: 1) == .milliseconds(200))
    #expect(wait(tries: 2, budget: .seconds(30), jitter: 0.25) == .milliseconds(50))
    #expect(wait(tries: 1, budget: .seconds(30), jitter: 0) == .zero)
  }

  @Test func `an origin that asks for more time than there is is not waited for`() {
    #expect(wait(tries: 1, budget: .seconds(30), asked: .seconds(Int64.max), jitter: 0.5) == nil)
    #expect(now.advanced(by: .seconds(Int64.max)) == .distantFuture)
    #expect(MonotonicInstant.now.advanced(by: .zero - .seconds(Int64.max)) < now)
  }

  @Test func `no try is made beyond the number allowed or the budget`() {
    #expect(wait(tries: 3, budget: .seconds(30), jitter: 0) == nil)
    #expect(wait(tries: 1, budget: .milliseconds(80), jitter: 1) == nil)
    #expect(wait(tries: 1, budget: .zero, jitter: 0) == nil)
  }

  @Test func `an origin that says when is not asked sooner, and not at all when that is too late`() {
    #expect(wait(tries: 1, budget: .seconds(30), asked: .seconds(2), jitter: 0.5) == .seconds(2))
    #expect(wait(tries: 1, budget: .seconds(1), asked: .seconds(2), jitter: 0.5) == nil)
  }
}
