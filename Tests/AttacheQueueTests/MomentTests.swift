@testable import AttacheQueue
import Testing

/// Points in time as flags accept them.
struct MomentTests {
  @Test(arguments: [
    ("0", 0), ("1800000000", 1_800_000_000), ("1970-01-01T00:00:00Z", 0), ("2026-11-21T18:00:00Z", 1_795_284_000),
    ("2026-11-21t19:00:00+01:00", 1_795_284_000), ("2026-11-21 17:30:00-00:30", 1_795_284_000), ("2024-02-29T00:00:00z", 1_709_164_800),
    ("2016-12-31T23:59:60Z", 1_483_228_800), ("2000-02-29T12:00:00Z", 951_825_600),
  ])
  func `a date and seconds are a moment`(text: String, seconds: Int) {
    #expect(Moment.sinceEpoch(text) == .seconds(seconds))
  }

  @Test func `fractions count to the nanosecond`() {
    #expect(Moment.sinceEpoch("1.25") == .milliseconds(1_250))
    #expect(Moment.sinceEpoch("1970-01-01T00:00:00.1234567891Z") == .nanoseconds(123_456_789))
  }

  @Test(arguments: [
    "", "soon", "-1", "1e9", "1.", ".5", "1800000000000", "7258118401", "2026-11-21", "2026-11-21T18:00:00", "2026-11-21T18:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
    "2026-11-21T24:00:00Z", "2026-11-21T00:60:00Z", "2026-11-21T00:00:61Z", "2026-11-21T18:00:00+25:00", "2026-11-21T18:00:00+0100",
    "2026-11-21T18:00:00.Z", "2026-11-21T18:00:00Zx", "26-11-21T18:00:00Z", "1969-12-31T23:59:59Z", "2200-01-01T00:00:01Z", "٢٠", "1 ",
  ])
  func `what is neither is none`(text: String) {
    #expect(Moment.sinceEpoch(text) == nil)
  }
}
