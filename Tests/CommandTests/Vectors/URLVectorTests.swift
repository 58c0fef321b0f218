import AttacheTesting
import Testing

@testable import Attache

/// The vectors that are URLs: with the gate alone, and with the built tool in a network in which
/// every address belongs to this machine.
@Suite(.timeLimit(.minutes(5)))
struct URLVectorTests {
  /// A scheme is refused whether or not plain http is fetched.
  private static let allowingHTTP = "attache $REHEARSAL_FLAGS"
  private static let withoutHTTP = "attache ${REHEARSAL_FLAGS#--allow-http}"

  private static func rehearse(_ command: String, _ scenario: Scenario) async -> ScenarioResult {
    var rehearsal = CommandRehearsal("\(AttacheTool.folder)/\(command)")
    rehearsal.demand = .all
    return await rehearsal.run(scenario)
  }

  // MARK: The gate

  @Test(arguments: URLVector.all)
  func `the gate says what the table says`(_ vector: URLVector) {
    // The result of a name that passes is tested below.
    let expected = vector.answer.reason.flatMap { $0.rawValue.hasPrefix("policy.") ? $0 : nil }
    let refusal = vector.refusal(allowHTTP: vector.category != "scheme")
    #expect(refusal?.reason == expected, "\(refusal?.message ?? "it passed")")
    guard let message = refusal?.message else { return }
    #expect(message.utf8.count < 400 && !message.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(message)")
  }

  // MARK: The tool, where it is refused

  /// All of them in one run. No connection is expected, to any address.
  private static let refused = Task {
    await played(URLVector.refused.filter { $0.category != "scheme" }, allowingHTTP)
  }
  private static let refusedSchemes = Task { await played(URLVector.refused.filter { $0.category == "scheme" }, withoutHTTP) }

  private static func played(_ vectors: [URLVector], _ command: String) async -> (order: [String], result: ScenarioResult) {
    var scenario = URLVector.scenario("vectors-that-are-refused", vectors)
    scenario.expectation.connections = 0
    return (vectors.map(\.id), await rehearse(command, scenario))
  }

  @Test(arguments: URLVector.refused)
  func `the tool refuses it for the table's reason, and its line is the original`(_ vector: URLVector) async throws {
    let (order, result) = await (vector.category == "scheme" ? Self.refusedSchemes : Self.refused).value
    if let reason = result.skipped { try Test.cancel("\(reason)") }
    let line = try #require(order.firstIndex(of: vector.id)) + 1
    #expect(result.findings.filter { $0.payload == line } == [])
    #expect(result.payloads.first { $0.line == line }?.outcome == vector.expected.outcome)
  }

  @Test func `no connection is opened for any that is refused`() async throws {
    for (_, result) in [await Self.refused.value, await Self.refusedSchemes.value] {
      if let reason = result.skipped { try Test.cancel("\(reason)") }
      #expect(result.findings == [])
    }
  }

  // MARK: The tool, where it is attached

  @Test(arguments: URLVector.attached)
  func `the tool attaches it with one request, which has the path as a payload names it`(_ vector: URLVector) async throws {
    let url = try URLGate(URLPolicy(allowHTTP: true)).check(vector.url[...])
    let path = String(url.target.prefix { $0 != "?" })
    var scenario = URLVector.scenario(vector.id, [vector])
    var origin = OriginScript()
    origin.paths[url.target] = PathScript(responses: [
      [OriginStep(.send(Medium(name: "picture.png", bytes: try Sample.medium("picture.png")), count: nil))]
    ])
    scenario.origins["http"] = origin
    origin.tls = .good
    origin.certificateNames = [url.host]
    scenario.origins["https"] = origin
    if url.address == nil { scenario.names[url.host] = NameScript([.init(.addresses([.v4(0x5DB8_D822)]))]) }
    scenario.expectation.requests = ["\(url.scheme)\(url.target == "/" ? path : url.target)": 1]
    (scenario.expectation.connections, scenario.expectation.names) = (1, url.address == nil ? 1 : 0)
    let result = await Self.rehearse(Self.allowingHTTP, scenario)
    if let reason = result.skipped { try Test.cancel("\(reason)") }
    #expect(result.findings == [])
  }

  // MARK: Lines

  @Test(arguments: (try? Vector.all().filter { if case .payload = $0.way { true } else { $0.url_hex != nil } }) ?? [])
  func `a line of its own leaves as it came`(_ vector: Vector) async throws {
    let (line, expected): ([UInt8], (String, String?)) =
      switch vector.way {
      case .payload(let bytes): (bytes, try Self.verdict(vector))
      case .url(let bytes): (Array(Sample.payload("").utf8.dropLast(2)) + bytes + Array("\"}\n".utf8), ("invalid", "payload.json"))
      case .scenarios, .test, .none, .several: ([], ("", nil))
      }
    let tool = try AttacheTool()
    let run = try await tool.run(["--allow-http", "--report", tool.report], input: line)
    #expect(run.output == line && run.exit == .status(0))
    let record = try #require(try ReportLine.read(tool.report).first)
    #expect(record.outcome == expected.0 && record.reason == expected.1)
  }

  private static func verdict(_ vector: Vector) throws -> (String, String?) {
    let answer = try #require(try VectorTable.read()[vector.expect])
    return (answer.outcome.rawValue, answer.reason?.rawValue)
  }
}
