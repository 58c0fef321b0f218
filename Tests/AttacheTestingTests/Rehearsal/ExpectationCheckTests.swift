import Attache
import AttacheTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ExpectationCheckTests {
  private static let line = #"{"n":1}"#
  private static let attached =
    #"{"n":1,"attache":{"attachments":[{"url":"file:///a","type":"public.png","size":3,"sha256":"abc"}]}}"#

  private static func evidence(_ output: String, _ report: [ReportedLine]?, lines: Int = 1) -> Evidence {
    var evidence = Evidence(input: Array(repeating: Array(line.utf8), count: lines))
    evidence.output = Array(output.utf8)
    evidence.report = report
    evidence.exitStatus = 0
    return evidence
  }

  private static let fallback = evidence(
    line + "\n", [ReportedLine(line: 1, outcome: .fallback, reason: .deadline, media: [.init(url: "u", reason: .deadline)])])
  private static let good: Evidence = {
    var good = evidence(attached + "\n", [ReportedLine(line: 1, outcome: .attached, media: [.init(url: "u")])])
    good.files = ["file:///a": FoundFile(size: 3, sha256: "abc")]
    return good
  }()

  private func findings(_ evidence: Evidence, _ expect: (inout ScenarioExpectation) -> Void) -> [String] {
    var expectation = ScenarioExpectation()
    expect(&expectation)
    return ExpectationCheck(expectation).findings(RunAnalysis(evidence)).map(\.description)
  }

  @Test func `what comes as expected is no finding`() {
    #expect(
      findings(Self.good) { $0.payloads = [.init(outcome: .attached, attachments: [.init(type: "public.png", size: 3)], media: [nil])] }
        == [])
    #expect(
      findings(Self.fallback) { $0.payloads = [.init(outcome: .fallback, reason: .deadline, attachments: [], media: [.deadline])] } == [])
    #expect(findings(Self.fallback) { _ in } == [])
  }

  @Test func `an outcome and a reason are compared`() {
    #expect(
      findings(Self.fallback) { $0.payloads = [.init(outcome: .attached)] } == [
        "outcome, payload 1: expected attached, got fallback (deadline)"
      ])
    #expect(
      findings(Self.fallback) { $0.payloads = [.init(outcome: .fallback, reason: .httpStatus)] }
        == ["reason, payload 1: expected http.status, got deadline"])
    #expect(findings(Self.fallback) { $0.payloads = [.init(reason: .deadline)] } == [])
    #expect(
      findings(Self.fallback) { $0.payloads = [.init(outcome: .fallback)] } == [
        "reason, payload 1: expected no reason, got deadline"
      ])
  }

  @Test func `attachments are compared by type and size`() {
    #expect(
      findings(Self.good) { $0.payloads = [.init(attachments: [.init(type: "public.jpeg")])] }
        == ["attachments, payload 1: expected [public.jpeg], got [public.png of 3 bytes]"])
    #expect(
      findings(Self.good) { $0.payloads = [.init(attachments: [.init(type: "public.png", size: 4)])] }
        == ["attachments, payload 1: expected [public.png of 4 bytes], got [public.png of 3 bytes]"])
    #expect(findings(Self.fallback) { $0.payloads = [.init(attachments: [.init(type: "public.png")])] }.count == 1)
  }

  @Test func `the file of an attachment is looked at whatever is expected`() {
    var evidence = Self.good
    evidence.files = [:]
    #expect(findings(evidence) { _ in } == ["attachments, payload 1: expected the file file:///a, which does not exist"])
    evidence.files = ["file:///a": FoundFile(size: 2, sha256: "abc")]
    #expect(findings(evidence) { _ in } == ["attachments, payload 1: file:///a should have 3 bytes with the hash abc; it has 2 with abc"])
  }

  @Test func `the reasons of media are compared in their order`() {
    #expect(
      findings(Self.fallback) { $0.payloads = [.init(media: [nil, .deadline])] }
        == ["media, payload 1: expected media with [no reason, deadline], got [deadline]"])
  }

  @Test func `a report that contradicts the output is found out`() {
    var evidence = Self.good
    evidence.report = [ReportedLine(line: 1, outcome: .fallback, reason: .deadline)]
    #expect(
      findings(evidence) { _ in } == ["outcome, payload 1: the report says fallback (deadline), but the output has [public.png of 3 bytes]"]
    )
    evidence.report = [
      ReportedLine(line: 1, outcome: .attached), ReportedLine(line: 1, outcome: .attached), ReportedLine(line: 7, outcome: .attached),
    ]
    #expect(
      findings(evidence) { _ in }
        == [
          "outcome, payload 1: expected one record in the report, got 2",
          "outcome: the report has a record of line 7, but the input has no such line",
        ])
    evidence.report = []
    evidence.output = Array((Self.line + "\n").utf8)
    #expect(
      findings(evidence) { $0.payloads = [.init(outcome: .passthrough)] } == [
        "outcome, payload 1: expected passthrough, got no record of it"
      ])
  }

  @Test func `a line without a record in the report breaks any expectation of it`() {
    let evidence = Self.evidence(Self.line + "\n", [])
    let missing = ["outcome, payload 1: expected one record in the report, got none"]
    #expect(findings(evidence) { $0.payloads = [.init(reason: .deadline)] } == missing)
    #expect(findings(evidence) { $0.payloads = [.init(attachments: [])] } == missing)
    #expect(findings(evidence) { $0.payloads = [.init(media: [.deadline])] } == missing)
    #expect(findings(evidence) { $0.payloads = [.init()] } == [])
  }

  @Test func `without a report an output tells what was attached`() {
    #expect(findings(Self.evidence(Self.line + "\n", nil)) { $0.payloads = [.init(outcome: .fallback, reason: .deadline)] } == [])
    #expect(
      findings(Self.evidence(Self.line + "\n", nil)) { $0.payloads = [.init(outcome: .attached)] }
        == ["outcome, payload 1: expected attached, got no attachment"])
    var evidence = Self.good
    evidence.report = nil
    #expect(findings(evidence) { $0.payloads = [.init(outcome: .attached)] } == [])
    #expect(
      findings(evidence) { $0.payloads = [.init(outcome: .fallback)] } == ["outcome, payload 1: expected fallback, got attached"])
  }

  @Test func `a request has no other fields than those that are expected`() {
    var evidence = Self.fallback
    evidence.fields = ["host", "accept", "referer"]
    #expect(
      findings(evidence) { $0.fields = ["host", "accept", "user-agent"] } == [
        "requests: expected only the fields [host, accept, user-agent], also got [referer]"
      ])
    #expect(findings(evidence) { $0.fields = ["host", "accept", "referer"] } == [])
  }

  @Test func `requests, connections, memory, descriptors and the exit status are compared`() {
    var evidence = Self.fallback
    evidence.requests = ["/a": 2]
    evidence.connections = 3
    evidence.memory = 100
    evidence.descriptors = 10
    evidence.exitStatus = 75
    let found = findings(evidence) { expectation in
      expectation.requests = ["/a": 1, "cdn/b": 1, "/c": 0]
      expectation.connections = 1
      expectation.memory = 99
      expectation.descriptors = 9
    }
    #expect(
      found == [
        "requests: expected 1 request for /a, got 2", "requests: expected 1 request for cdn/b, got 0",
        "connections: expected 1 connection, got 3", "memory: expected at most 99 bytes of memory, got 100",
        "descriptors: expected at most 9 descriptors, got 10", "exit: expected the exit status 0, got 75",
      ])
    evidence.memory = nil
    #expect(findings(evidence) { $0.memory = 1 }.first == "memory: expected at most 1 bytes of memory, which could not be measured")
  }

  @Test func `a line is late when the report says so`() {
    var evidence = Self.fallback
    evidence.report = [ReportedLine(line: 1, outcome: .fallback, reason: .deadline, lateness: .milliseconds(3))]
    #expect(
      LatenessCheck.findings(evidence, bound: .zero).map(\.description)
        == ["late, payload 1: no lateness is allowed; the line was written 3 ms after its deadline"])
    #expect(LatenessCheck.findings(evidence, bound: .milliseconds(3)).isEmpty)
  }

  @Test func `clocks that decide differently are found out`() {
    #expect(AgreementCheck.findings(real: RunAnalysis(Self.good), virtual: RunAnalysis(Self.good)).isEmpty)
    var other = Self.fallback
    other.requests = ["/a": 2]
    #expect(
      AgreementCheck.findings(real: RunAnalysis(Self.good), virtual: RunAnalysis(other)).map(\.description) == [
        "disagreement, payload 1: the real clock: attached with public.png of 3 bytes; the virtual clock: fallback (deadline)",
        "disagreement: requests for /a: 0 on the real clock, 2 on the virtual one",
      ])
  }

  @Test func `a filter that was stopped owes nothing for lines that it did not read`() {
    var scenario = Scenario(name: "stopped", file: "stopped.yaml", payloads: [Self.line, Self.line])
    var evidence = Self.evidence(Self.line + "\n", [ReportedLine(line: 1, outcome: .passthrough)], lines: 2)
    evidence.exitStatus = 75
    scenario.expectation.exitStatus = 75
    #expect(EngineCheck.findings(RunAnalysis(evidence, of: scenario), of: scenario).map(\.kind) == [.lost])
    scenario.stop = StopScript(at: .zero, isCancellation: false)
    #expect(EngineCheck.findings(RunAnalysis(evidence, of: scenario), of: scenario).isEmpty)
    evidence.hung = true
    #expect(EngineCheck.findings(RunAnalysis(evidence, of: scenario), of: scenario).map(\.kind) == [.hung])
  }

  @Test func `a report is read back, and a line that is none is named`() throws {
    let text =
      #"{"line":7,"outcome":"fallback","reason":"deadline","dialect":"firebase","place_wait_ms":2.5,"elapsed_ms":1951.2,"lateness_ms":-48.8,"media":[{"url":"u","reason":"http.status","status":404,"bytes":9,"cache":"miss","type":null,"attempts":1,"dns_ms":null,"connect_ms":0.3,"tls_ms":null,"first_byte_ms":2.0,"total_ms":2.0}]}"#
    let records = try ReportedLine.read(Array((text + "\n").utf8))
    #expect(
      records == [
        ReportedLine(
          line: 7, outcome: .fallback, reason: .deadline, placeWait: .microseconds(2_500), elapsed: .microseconds(1_951_200),
          lateness: .microseconds(-48_800),
          media: [.init(url: "u", reason: .httpStatus, status: 404, bytes: 9)])
      ])
    let error = #expect(throws: ReportError.self) { try ReportedLine.read(Array("\(text)\nhello\n".utf8)) }
    #expect(error?.description == "line 2 of the report is not a record of attache: hello")
  }
}
