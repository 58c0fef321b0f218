import Attache
import Foundation
import Testing

/// `attache deliver --rate`, by the built tool: an upper limit, which holds on slow machines too.
@Suite(.timeLimit(.minutes(1)))
struct DeliverRateTests {
  /// Records the time at which it has read each line, in nanoseconds of the system's monotonic
  /// clock.
  private static let sender = """
    import sys, time
    log = open(sys.argv[1], "a")
    for line in sys.stdin:
        print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), file=log, flush=True)
        print("ok", flush=True)
    """
  private static let count = 100
  private static let rate = 200.0
  /// The allowed burst after an idle time: the results of 100 ms.
  private static let burst = 20.0

  /// When the sender has read each result, in seconds since the deliverer was about to start.
  private func moments(_ jobs: Int) async throws -> [Double] {
    let queue = try QueueTool()
    try await queue.work((1...Self.count).map { "{\"n\":\($0)}\n" }.joined())
    let got = queue.tool.home["got"]
    let start = Double(MonotonicInstant.now.nanoseconds)
    let run = try await queue.run(
      "deliver", ["--once", "--jobs", "\(jobs)", "--rate", "\(Int(Self.rate))/s", "--", "python3", "-c", Self.sender, got])
    #expect(run.exit == .status(0))
    return try String(contentsOfFile: got, encoding: .utf8).split(separator: "\n").map { ((Double($0) ?? 0) - start) / 1e9 }
  }

  @Test func `no window has more results than the rate allows, and those of a moment`() async throws {
    // With one result at a time, each is read before the next one is sent, so none is counted in
    // the wrong window.
    let moments = try await moments(1)
    #expect(moments.count == Self.count)
    for first in moments.indices {
      for last in first..<moments.count {
        let allowed = Self.burst + Self.rate * (moments[last] - moments[first])
        #expect(Double(last - first) <= allowed, "\(last - first) after \(moments[first]) s, in \(moments[last] - moments[first]) s")
      }
    }
  }

  @Test func `many at a time are no more than the rate allows since the start`() async throws {
    let moments = try await moments(64)
    #expect(moments.count == Self.count)
    for (index, moment) in moments.enumerated() {
      #expect(Double(index) <= Self.rate * moment, "\(index + 1) results in \(moment) s")
    }
  }
}
