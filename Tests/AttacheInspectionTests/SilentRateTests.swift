import Testing

@testable import Attache
@testable import AttacheInspection

/// More silent pushes to one device than Apple's "two or three per hour".
struct SilentRateTests {
  private func push(_ token: String, _ time: String) -> String {
    #"{"token":"\#(token)","time":\#(time),"payload":{"aps":{"content-available":1}}}"#
  }

  private func codes(_ lines: [String]) throws -> [[FindingCode]] {
    try findings(lines).map { $0.map(\.code) }
  }

  private func findings(_ lines: [String]) throws -> [[LintFinding]] {
    var configuration = Inspector.Configuration()
    configuration.payloadPath = try JSONPointer(pointer: "/payload")
    let inspector = Inspector(configuration)
    return lines.enumerated().map { inspector.inspect(InputPayload(line: $0 + 1, bytes: Array($1.utf8))).flatMap(\.findings) }
  }

  @Test func `the fourth within an hour is too many`() throws {
    let lines = [0, 600, 1200, 1800, 4300].map { push("t", "\(1_700_000_000 + $0)") }
    #expect(try codes(lines) == [[], [], [], [.silentRate], []])
  }

  @Test func `each device has its own count`() throws {
    let lines = [0, 1, 2, 3].flatMap { [push("a", "\(1_700_000_000 + $0)"), push("b", "\(1_700_000_000 + 4000 * $0)")] }
    #expect(try codes(lines).filter { !$0.isEmpty }.count == 1)
  }

  @Test func `milliseconds and dates are times too`() throws {
    let lines = ["1700000000000", "1700000100.5", #""2023-11-14T22:16:40Z""#, #""2023-11-14T23:18:20.5+01:00""#].map { push("t", $0) }
    #expect(try codes(lines) == [[], [], [], [.silentRate]])
  }

  @Test func `pushes that come out of order count as those that come in order`() {
    var numbers = SeededTimes()
    var (rate, times) = (SilentRate(), [Double]())
    for _ in 0..<5_000 {
      // Within half an hour, so that all of them count.
      let time = numbers.next(below: 1_800)
      times.append(time)
      #expect(rate.add("t", at: time) == min(times.count { $0 <= time }, SilentRate.maximumCount))
    }
  }

  @Test func `pushes to one device are counted up to a thousand`() throws {
    let lines = (0..<1_001).map { _ in push("t", "1700000000") }
    let findings = try self.findings(lines)
    #expect(findings[998].map(\.text).joined().contains("silent push 999 within"))
    #expect(findings[1_000].map(\.text).joined().contains("silent push 1,000 or a later one within"))
  }

  @Test func `devices are told apart by the bytes of their tokens`() throws {
    let lines = ["caf\\u00e9", "cafe\\u0301", "caf\\u00e9", "cafe\\u0301", "caf\\u00e9", "cafe\\u0301"].map { push($0, "1700000000") }
    #expect(try codes(lines).allSatisfy(\.isEmpty))
  }

  @Test func `a time without end is no time`() throws {
    let lines = ["\"inf\"", "\"nan\"", "1e999"].flatMap { time in (0..<5).map { _ in push("t", time) } }
    #expect(try codes(lines).allSatisfy { !$0.contains(.silentRate) })
  }

  @Test func `alerts are not counted`() throws {
    let lines = (0..<5).map { #"{"token":"t","time":\#(1_700_000_000 + $0),"payload":{"aps":{"alert":"Hi"}}}"# }
    #expect(try codes(lines).allSatisfy(\.isEmpty))
  }

  @Test func `without a time or a device nothing is counted`() throws {
    let lines = (0..<5).map { _ in #"{"token":"t","payload":{"aps":{"content-available":1}}}"# }
    #expect(try codes(lines).allSatisfy(\.isEmpty))
  }
}

/// Random numbers that are the same in each run.
private struct SeededTimes {
  private var state: UInt64 = 14

  mutating func next(below limit: Double) -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 33) / Double(1 << 31) * limit
  }
}
