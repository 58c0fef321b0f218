import Testing

@testable import Attache
@testable import AttacheInspection

/// Payloads with as many members as fit into a line: findings take linear time, and their text
/// stays short.
@Suite(.timeLimit(.minutes(1)))
struct LargePayloadFindingTests {
  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#

  private static func urls(_ count: Int, scheme: String = "https") -> String {
    (0..<count).map { #""\#(scheme)://cdn.example/\#($0).jpg""# }.joined(separator: ",")
  }

  @Test func `the first 64 references of a full line have their places, and the others are counted`() throws {
    let payload = #"{\#(Self.aps),"image":[\#(Self.urls(30_000))]}"#
    for line in [payload, #"{"message":{"token":"t","apns":{"payload":\#(payload)}}}"#] {
      let inspection = inspect(one: line)
      #expect(inspection.media.count == 64)
      #expect(inspection.omitted == 29_936)
      let last = try #require(inspection.media.last?.reference.path)
      #expect(last.string.hasSuffix("/image/63"))
      #expect(Set(inspection.media.map(\.reference.path)).count == 64)
      #expect(inspection.findings.map(\.text).contains("the payload names 30,000 media; attache reads only the first 64"))
      let text = InspectionText(width: 1_000, isColoured: false).text(of: inspection)
      #expect(text.contains("It names 30,000 media files, of which attache reads the first 64, as in "))
    }
  }

  @Test func `twenty findings of a code are told, then how many more there are`() {
    let keys = (0..<60_000).map { #""k\#($0)":1"# }.joined(separator: ",")
    let findings = inspect(one: #"{"aps":{"alert":"Hi","badge":"1",\#(keys)}}"#).findings.filter { $0.code == .apsUnknown }
    #expect(findings.map(\.path) == (0...20).map { "/aps/k\($0)" })
    #expect(findings.last?.text == "and 59,980 more")
  }

  @Test func `each code is counted for itself`() {
    let line =
      #"{"aps":{"alert":"Hi","mutable-content":1,"badge":"1"},"image":[\#(Self.urls(20, scheme: "http")),"https://10.0.0.1/a.jpg"]}"#
    let codes = inspect(one: line).findings.map(\.code)
    #expect(codes == [.apsBadge] + Array(repeating: .urlHTTP, count: 20) + [.urlRefused])
  }

  @Test func `URLs in aps are found once each`() {
    let findings = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1,"data":{"image":[\#(Self.urls(30_000))]}}}"#).findings
    #expect(findings.map(\.code).filter { $0 != .payloadSize } == Array(repeating: .apsMedia, count: 21))
  }
}
