import Attache
import AttacheTesting
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ScenarioRunnerTests {
  /// A scenario that must pass.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var scenario: Scenario

    init(_ description: String, _ scenario: Scenario, _ change: (inout Scenario) -> Void) {
      testDescription = description
      self.scenario = scenario
      change(&self.scenario)
    }
  }

  private static let photo = PhotoScenario.photo
  private static let secure = PhotoScenario.make("https://photo.example:{{port}}/photo.jpg")

  private static func tls(_ tls: OriginScript.TLS, _ scenario: Scenario = PhotoScenario.make()) -> Scenario {
    var scenario = scenario
    scenario.origins["origin"]?.tls = tls
    return scenario
  }

  private static func connection(_ connection: OriginScript.Connection) -> Scenario {
    var scenario = PhotoScenario.make()
    scenario.origins["origin"]?.connection = connection
    scenario.isDecidedByDeadline()
    scenario.flags = ["--retries", "0"]
    return scenario
  }

  private static func name(_ turns: [NameScript.Turn]) -> Scenario {
    var scenario = PhotoScenario.make("http://photo.example:{{port}}/photo.jpg")
    scenario.names = ["photo.example": NameScript(turns)]
    return scenario
  }

  private static let loopback = NameScript.Turn(.addresses([.v4(0x7F00_0001)]))

  @Test(arguments: [
    Row("a photo", PhotoScenario.make(times: 3)) { $0.expect(.attached, requests: 1) },
    Row(
      "a photo in pieces",
      PhotoScenario.make(steps: [OriginStep(.send(photo, count: 100)), OriginStep(.send(photo, count: nil), at: .milliseconds(30))])
    ) {
      $0.expect(.attached)
    },
    Row("a photo in chunks", PhotoScenario.make(steps: [OriginStep(.length(.chunked)), OriginStep(.send(photo, count: nil))])) {
      $0.expect(.attached)
    },
    Row("a stall", PhotoScenario.make(steps: [OriginStep(.send(photo, count: 100)), OriginStep(.stall)])) {
      $0.isDecidedByDeadline()
      $0.expect(.fallback, .deadline, requests: 1)
    },
    Row("a reset", PhotoScenario.make(steps: [OriginStep(.reset)])) { $0.expect(.fallback, .connectReset, requests: 3) },
    Row("a body that breaks off", PhotoScenario.make(steps: [OriginStep(.send(photo, count: 100)), OriginStep(.close)])) {
      $0.flags = ["--retries", "0"]
      $0.expect(.fallback, .httpTruncated, requests: 1)
    },
    Row("a status", PhotoScenario.make(steps: [OriginStep(.status(404)), OriginStep(.text("no"))])) {
      $0.expect(.fallback, .httpStatus, requests: 1)
    },
    Row("no HTTP", PhotoScenario.make(steps: [OriginStep(.raw("SSH-2.0\r\n"))])) { $0.expect(.fallback, .httpProtocol) },
    Row(
      "a header without an end",
      PhotoScenario.make(steps: [OriginStep(.header(name: "X", value: String(repeating: "x", count: 1000)), repetition: .forever)])
    ) {
      $0.expect(.fallback, .httpHeaders)
    },
    Row("a body without an end", PhotoScenario.make(steps: [OriginStep(.send(photo, count: nil), repetition: .forever)])) {
      $0.flags = ["--limits", "image=100KB"]
      $0.expect(.fallback, .sizeImage)
    },
    Row("a redirect to another origin", PhotoScenario.make(steps: [OriginStep(.redirect("{{cdn}}/photo.jpg"))])) { scenario in
      scenario.origins["cdn"] = PhotoScenario.make().origins["origin"]
      scenario.expect(.attached, requests: 1)
      scenario.expectation.requests["cdn/photo.jpg"] = 1
    },
    Row("a query is part of a path", PhotoScenario.make("{{origin}}/a?size=2")) { scenario in
      let photo = scenario.origins["origin"]?.paths["/photo.jpg"]
      scenario.origins["origin"]?.paths["/a?size=2"] = photo
      scenario.expect(.attached, requests: 0)
      scenario.expectation.requests["/a?size=2"] = 1
    },
    Row("another answer the second time", PhotoScenario.make()) { scenario in
      scenario.origins["origin"]?.paths["/photo.jpg"]?.responses.insert([OriginStep(.status(502))], at: 0)
      scenario.expect(.attached, requests: 2)
    },
    Row("a path that a fault could be named by", PhotoScenario.make("{{origin}}/status/503/photo.jpg")) {
      $0.expect(.fallback, .httpStatus, requests: 0)
      $0.expectation.requests["/status/503/photo.jpg"] = 1
    },
    Row("a name", name([loopback])) { $0.expect(.attached) },
    Row("a name that is slow", name([.init(loopback.answer, delay: .milliseconds(50))])) { $0.expect(.attached) },
    Row("a name that does not exist", name([.init(.none)])) { $0.expect(.fallback, .dnsNotFound, requests: 0) },
    Row("a name server that fails", name([.init(.failure)])) { $0.expect(.fallback, .dnsFailed) },
    Row("a name server that stalls", name([.init(.stall)])) {
      $0.isDecidedByDeadline()
      $0.expect(.fallback, .deadline)
    },
    Row("another address the second time", name([loopback, .init(.addresses([.v4(0x0A00_0001)]))])) { $0.expect(.attached) },
    Row("good TLS", tls(.good)) { $0.expect(.attached) },
    Row("good TLS for a name", tls(.good, secure)) {
      $0.names = ["photo.example": NameScript([loopback])]
      $0.expect(.attached)
    },
    Row("good TLS without HTTP/2", tls(.good)) {
      $0.origins["origin"]?.offersHTTP2 = false
      $0.expect(.attached)
    },
    Row("two origins with good TLS", tls(.good, PhotoScenario.make(steps: [OriginStep(.redirect("{{cdn}}/photo.jpg"))]))) { scenario in
      scenario.origins["cdn"] = tls(.good).origins["origin"]
      scenario.expect(.attached)
    },
    Row("an expired certificate", tls(.expired)) { $0.expect(.fallback, .tlsCertificate, requests: 0) },
    Row("a certificate for another host", tls(.wrongHost)) { $0.expect(.fallback, .tlsHost, requests: 0) },
    Row("a certificate below an unknown root", tls(.untrusted)) { $0.expect(.fallback, .tlsCertificate, requests: 0) },
    Row("a handshake that stalls", tls(.stalled)) {
      $0.deadline = .milliseconds(400)
      $0.flags = ["--retries", "0"]
      $0.expect(.fallback, .tlsHandshake, requests: 0)
    },
    Row("a refused connection", connection(.refused)) { $0.expect(.fallback, .connectRefused) },
    Row("a connection that is reset", connection(.reset)) {
      $0.expect(.fallback, .connectReset)
      $0.expectation.connections = 1
    },
    Row("a silent connection", connection(.silent)) { $0.expect(.fallback, .deadline) },
    Row("packets that are dropped", connection(.dropped)) {
      // A connection may take a third of the deadline.
      $0.grace = .milliseconds(250)
      $0.expect(.fallback, .connectFailed)
    },
    Row("a last line without an ending", PhotoScenario.make(times: 2)) {
      $0.endsWithLineFeed = false
      $0.expect(.attached)
    },
    Row("no input", PhotoScenario.make(times: 0)) { _ in },
    Row("any order", PhotoScenario.make(times: 20)) {
      $0.flags = ["--unordered", "--jobs", "4"]
      $0.expect(.attached)
    },
    Row("a stop with a line in flight", PhotoScenario.make(steps: [OriginStep(.stall)])) {
      $0.isDecidedByDeadline()
      $0.stop = StopScript(at: .milliseconds(50), isCancellation: false)
      $0.expect(.fallback, .deadline)
      $0.expectation.exitStatus = 75
    },
    Row("a cancellation with a line in flight", PhotoScenario.make(steps: [OriginStep(.stall)])) {
      $0.deadline = .seconds(20)
      $0.stop = StopScript(at: .milliseconds(100), isCancellation: true)
      $0.expect(.fallback, .cancelled)
      $0.expectation.exitStatus = 75
    },
    Row("an extension that blocks", PhotoScenario.make(times: 2)) {
      $0.serviceExtension = .blocks
      $0.isDecidedByDeadline()
      $0.expect(.fallback, .deadline, requests: 0)
    },
    Row("an extension that is silent", PhotoScenario.make(times: 2)) {
      $0.serviceExtension = .silent
      $0.isDecidedByDeadline()
      $0.expect(.fallback, .deadline, requests: 0)
    },
    Row("an extension that throws", PhotoScenario.make()) {
      $0.serviceExtension = .throws
      $0.expect(.fallback, .internal, requests: 0)
    },
    Row("an extension that takes the alert away", PhotoScenario.make()) {
      $0.serviceExtension = .emptiesAlert
      $0.expect(.fallback, .payloadAlert, requests: 0)
    },
    Row("an extension that is late", PhotoScenario.make()) {
      $0.serviceExtension = .late
      $0.isDecidedByDeadline()
      $0.expect(.fallback, .deadline, requests: 0)
    },
    Row("an extension that answers twice", PhotoScenario.make()) {
      $0.serviceExtension = .twice
      $0.expect(.passthrough, requests: 0)
    },
    Row("bounds that are kept", PhotoScenario.make(times: 5)) {
      $0.expect(.attached)
      $0.expectation.memory = 500_000_000
      $0.expectation.descriptors = 500
    },
  ])
  func `a scenario comes out as it is expected`(_ row: Row) async {
    let result = await ScenarioRunner().run(row.scenario)
    #expect(
      result.findings == [] && result.skipped == nil, "\(result.timeline.map { "\($0.at) \($0.actor) \($0.text)" }.joined(separator: "\n"))"
    )
    #expect(result.depth == .real && result.payloads.count == row.scenario.payloads.count)
  }

  @Test(arguments: [(DiskScript.full(afterBytes: 5000), Reason.storeFull), (.full(afterBytes: 0), .storeFull), (.readOnly, .storeReadOnly)])
  func `a disk fails when it must`(_ disk: DiskScript, _ reason: Reason) async {
    let large = Medium(name: "large.jpg", bytes: Self.photo.bytes + [UInt8](repeating: 0, count: 20_000))
    var scenario = PhotoScenario.make(steps: [OriginStep(.send(large, count: nil))])
    scenario.disk = disk
    scenario.expect(.fallback, reason)
    let result = await ScenarioRunner().run(scenario)
    #expect(result.findings == [])
    #expect(result.skipped == nil || geteuid() != 0)
  }

  @Test func `what comes otherwise is found out`() async {
    var scenario = PhotoScenario.make(times: 2)
    scenario.expect(.fallback, .deadline, requests: 7)
    scenario.expectation.descriptors = 1
    scenario.expectation.memory = 0
    let kinds = await ScenarioRunner().run(scenario).findings.map(\.kind)
    #expect(Set(kinds) == [.outcome, .attachments, .requests, .descriptors, .memory])
  }

  @Test func `the time line tells what happened in its order`() async throws {
    var scenario = PhotoScenario.make(
      "http://photo.example:{{port}}/photo.jpg", steps: [OriginStep(.send(Self.photo, count: 100)), OriginStep(.stall)])
    scenario.names = ["photo.example": NameScript([Self.loopback])]
    scenario.isDecidedByDeadline()
    let result = await ScenarioRunner().run(scenario)
    let texts = result.timeline.map(\.text)
    let wanted = [
      "line 1 is read", "asked for photo.example, A", "accepts connection 1", "GET /photo.jpg on connection 1", "/photo.jpg: 200",
      "/photo.jpg: 100 bytes sent", "/photo.jpg: stalls", "line 1: fallback (deadline)",
    ]
    #expect(wanted.allSatisfy(texts.contains), "\(texts)")
    #expect(result.timeline.map(\.at) == result.timeline.map(\.at).sorted())
    #expect(try #require(texts.last).hasPrefix("line 1 is written, "))
  }

  @Test func `every time of a scenario shrinks with the scale`() async {
    var scenario = PhotoScenario.make(steps: [OriginStep(.status(200), at: .seconds(20)), OriginStep(.send(Self.photo, count: nil))])
    scenario.deadline = .seconds(10)
    scenario.grace = .seconds(4)
    scenario.expect(.fallback, .deadline)
    let result = await ScenarioRunner(timeScale: 0.06).run(scenario)
    #expect(result.findings == [] && result.elapsed < .seconds(5))
  }

  @Test func `wrong flags are a finding of the stage`() async {
    var scenario = PhotoScenario.make()
    scenario.flags = ["--jobs", "none"]
    let findings = await ScenarioRunner().run(scenario).findings
    #expect(findings.map(\.kind) == [.stage])
  }
}
