import Testing

@testable import Attache

/// More silent pushes to one device than Apple's "two or three per hour".
struct SilentRateTests {
  private func push(_ token: String, _ time: String) -> String {
    #"{"token":"\#(token)","time":\#(time),"payload":{"aps":{"content-available":1}}}"#
  }

  private func codes(_ lines: [String]) throws -> [[FindingCode]] {
    var configuration = Inspector.Configuration()
    configuration.payloadPath = try JSONPointer(pointer: "/payload")
    let inspector = Inspector(configuration)
    return lines.enumerated().map { inspector.inspect(InputPayload(line: $0 + 1, bytes: Array($1.utf8))).flatMap(\.findings).map(\.code) }
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

  @Test func `alerts are not counted`() throws {
    let lines = (0..<5).map { #"{"token":"t","time":\#(1_700_000_000 + $0),"payload":{"aps":{"alert":"Hi"}}}"# }
    #expect(try codes(lines).allSatisfy(\.isEmpty))
  }

  @Test func `without a time or a device nothing is counted`() throws {
    let lines = (0..<5).map { _ in #"{"token":"t","payload":{"aps":{"content-available":1}}}"# }
    #expect(try codes(lines).allSatisfy(\.isEmpty))
  }
}
