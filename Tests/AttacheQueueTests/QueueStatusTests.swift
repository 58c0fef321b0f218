@testable import AttacheQueue
import Attache
import Testing

/// The text that describes a queue's state.
struct QueueStatusTests {
  private var counts: QueueCounts {
    var counts = QueueCounts()
    (counts[.ready], counts[.waiting], counts[.leased], counts[.done], counts[.dead], counts.unread) = (1_200, 3, 64, 11, 1, 12)
    counts[.delivered] = 1_099_802
    (counts.oldest[.waiting], counts.finishedLastMinute) = (.seconds(133), 1_204)
    (counts.delivering, counts.oldest[.done]) = (5, .seconds(61))
    return counts
  }

  @Test func `people see each state, the oldest, and how long it takes`() {
    let status = QueueStatus(.sqlite(path: "push.db"), counts, rate: 20.4)
    #expect(
      status.lines.joined(separator: "\n") == """
        sqlite:push.db: 1,101,081 payloads
          ready          1,200
          waiting            3  not due yet
          leased            64
          done              11  5 with a deliverer
          delivered  1,099,802
          dropped            0
          expired            0
          timed-out          0
          cancelled          0
          dead               1  1 undelivered
        the oldest without a result was enqueued 2m 13s ago
        the oldest undelivered was enqueued 1m 1s ago
        1,204 results in the last minute; 20/s, 1m 3s left
        """)
    #expect(
      status.line
        == "1101081 payloads: 1200 ready, 3 waiting, 64 leased, 11 done, 1099802 delivered, 1 dead; 20/s, 1m 3s left")
  }

  @Test func `an empty queue has no oldest, and nothing is left`() {
    let status = QueueStatus(.sqlite(path: "/q"), QueueCounts(), rate: 0)
    #expect(status.lines.first == "sqlite:/q: 0 payloads")
    #expect(status.lines.last == "0 results in the last minute; 0/s")
    #expect(status.lines.count == 12)
    #expect(
      status.json
        == #"{"queue":"sqlite:/q","ready":0,"waiting":0,"leased":0,"done":0,"delivered":0,"dropped":0,"expired":0,"timed-out":0,"cancelled":0,"dead":0,"#
        + #""undecided":0,"decided":0,"unread":0,"delivering":0,"total":0,"#
        + #""oldest_s":null,"oldest_undelivered_s":null,"finished_last_minute":0,"rate_per_s":0,"left_s":null,"paused":[]}"# + "\n")
  }

  @Test(arguments: [(0, "0/s"), (0.04, "less than 0.1/s"), (0.1, "0.1/s"), (2.36, "2.4/s"), (20.4, "20/s"), (1_234.5, "1,235/s")])
  func `a rate is said as exactly as it matters`(rate: Double, text: String) {
    #expect(QueueStatus(.sqlite(path: "q"), QueueCounts(), rate: rate).lines.last == "0 results in the last minute; \(text)")
  }

  @Test func `programs get the same as numbers`() {
    let json = QueueStatus(.sqlite(path: "a\"b"), counts, rate: 20.4).json
    #expect(
      json == #"{"queue":"sqlite:a\"b","ready":1200,"waiting":3,"leased":64,"done":11,"delivered":1099802,"#
        + #""dropped":0,"expired":0,"timed-out":0,"#
        + #""cancelled":0,"dead":1,"undecided":1267,"decided":1099814,"unread":12,"delivering":5,"total":1101081,"#
        + #""oldest_s":133,"oldest_undelivered_s":61,"finished_last_minute":1204,"rate_per_s":20.4,"left_s":63,"paused":[]}"#
        + "\n")
  }

  @Test(arguments: [
    (0, "0s"), (59, "59s"), (60, "1m"), (61, "1m 1s"), (3_599, "59m 59s"), (3_600, "1h"), (3_661, "1h 1m"), (86_400, "1d"),
    (90_061, "1d 1h"),
    (86_405, "1d"),
  ])
  func `a span is said in its largest unit and the next`(seconds: Int, text: String) {
    #expect(QueueStatus.span(.seconds(seconds)) == text)
  }

  @Test func `a rate is that of the last ten seconds, from the first counts on`() {
    var (rate, now, counts) = (ResultRate(), MonotonicInstant(nanoseconds: 0), QueueCounts())
    (counts.finishedLastMinute, counts.finishedLately) = (120, 20)
    #expect(rate.add(counts, at: now) == 2)
    for second in 1...30 {
      counts[.done] += second <= 15 ? 100 : 10
      now = now.advanced(by: .seconds(1))
      let found = rate.add(counts, at: now)
      if second == 15 { #expect(found == 100) }
      if second == 20 { #expect(found == 55) }
      if second >= 25 { #expect(found == 10) }
    }
    // Payloads were removed, so the earlier counts mean nothing.
    counts[.done] = 5
    #expect(rate.add(counts, at: now.advanced(by: .seconds(1))) == 2)
  }

  @Test func `a terminal is drawn over, and lines are cut to its width`() {
    #expect(QueueWatch.redrawn(["abc", "d"], over: 0, width: 2) == "\rab\u{1B}[K\n\rd\u{1B}[K\n\u{1B}[J")
    #expect(QueueWatch.redrawn(["x"], over: 2, width: 9) == "\u{1B}[2A\rx\u{1B}[K\n\u{1B}[J")
  }
}
