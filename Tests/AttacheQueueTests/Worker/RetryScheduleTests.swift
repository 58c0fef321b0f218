@testable import Attache
@testable import AttacheQueue
import Testing

@Suite struct RetryScheduleTests {
  private let schedule = RetrySchedule(attempts: 20)

  @Test(arguments: [(1, 1.0), (2, 2), (3, 4), (9, 256), (10, 300), (19, 300)])
  func `the ceiling of the wait doubles with each try, to five minutes`(_ attempt: Int, _ seconds: Double) {
    #expect(schedule.delay(after: attempt, remaining: nil, jitter: 1) == .seconds(seconds))
    #expect(schedule.delay(after: attempt, remaining: nil, jitter: 0.5) == .seconds(seconds / 2))
    #expect(schedule.delay(after: attempt, remaining: nil, jitter: 0) == .zero)
  }

  @Test func `the last try has no other behind it`() {
    #expect(RetrySchedule(attempts: 3).delay(after: 2, remaining: nil, jitter: 0) != nil)
    #expect(RetrySchedule(attempts: 3).delay(after: 3, remaining: nil, jitter: 0) == nil)
    #expect(RetrySchedule(attempts: 1).delay(after: 1, remaining: nil, jitter: 0) == nil)
  }

  @Test func `nothing is put off beyond its expiry`() {
    #expect(schedule.delay(after: 3, remaining: .seconds(5), jitter: 1) == .seconds(4))
    #expect(schedule.delay(after: 3, remaining: .seconds(4), jitter: 1) == nil)
    #expect(schedule.delay(after: 3, remaining: .seconds(-1), jitter: 0) == nil)
  }

  @Test(arguments: [
    (200, false), (304, false), (400, false), (404, false), (408, true), (410, false), (425, true), (429, true), (500, true), (503, true),
    (599, true), (600, false),
  ])
  func `a status is tried again when it may pass by itself`(_ status: Int, _ isRetryable: Bool) {
    #expect(Self.payload(.httpStatus, [(.httpStatus, status)]).isRetryable == isRetryable)
  }

  @Test func `one medium that may come is worth a try, and what was attached is done`() {
    #expect(Self.payload(.typeUnknown, [(.typeUnknown, 200), (.deadline, nil)]).isRetryable)
    #expect(!Self.payload(.typeUnknown, [(.typeUnknown, 200), (.policyAddress, nil)]).isRetryable)
    var attached = Self.payload(.deadline, [(.deadline, nil)])
    attached.outcome = .attached
    #expect(!attached.isRetryable)
    #expect(Decision(.fallback, .storeFull).isRetryable)
    // The file was downloaded, but removed before the worker held it.
    var gone = Self.payload(.storeFailed, [])
    gone.media = [MediaRecord(url: "https://origin.test/")]
    #expect(gone.isRetryable)
    #expect(!Decision(.invalid, .payloadJSON).isRetryable)
  }

  private static func payload(_ reason: Reason, _ media: [(Reason, Int?)]) -> Decision {
    var payload = Decision(.fallback, reason)
    payload.media = media.map { MediaRecord(url: "https://origin.test/", reason: $0.0, status: $0.1) }
    return payload
  }
}
