import AttacheTesting
import Foundation
import Testing

/// How a rehearsal of a service extension can be changed, and what it says.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ExtensionRehearsalModeTests {
  private func play(_ rehearsal: ExtensionRehearsal, _ name: String) async throws -> ScenarioResult {
    let situations = ExtensionSituation.all.filter { $0.name == name }
    return try #require(await rehearsal.run(situations, file: "", report: { _ in }, began: { _ in }).first)
  }

  /// The subtitles that people see.
  private func subtitles(_ result: ScenarioResult) throws -> [String] {
    try result.lines.map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.after ?? [])) as? [String: Any]
      let alert = (object?["aps"] as? [String: Any])?["alert"] as? [String: Any]
      return try #require(alert?["subtitle"] as? String)
    }
  }

  @Test func `one instance for all notifications answers the last one only, if it stores its handler`() async throws {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Careful.swift"))
    rehearsal.reusesInstance = true
    let atOnce = try await play(rehearsal, "four-at-once")
    #expect(atOnce.findings.contains { $0.kind == .answerNever }, "\(atOnce.findings)")
    // The instance exists after its answer, as it must.
    let inARow = try await play(rehearsal, "three-in-a-row")
    #expect(inARow.findings.isEmpty && inARow.warnings.isEmpty, "\(inARow.findings) \(inARow.warnings)")
  }

  @Test func `fresh processes have the home of the ones before`() async throws {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("CountsInDocuments.swift"))
    for (isFresh, processes) in [(false, 1), (true, 3)] {
      rehearsal.hasFreshProcesses = isFresh
      let words = try subtitles(try await play(rehearsal, "three-in-a-row")).map { $0.split(separator: " ") }
      #expect(words.map { $0[1] } == ["1", "2", "3"])
      #expect(Set(words.map { $0[0] }).count == processes, "\(words)")
    }
  }

  @Test func `App Transport Security gives the error that a phone gives`() async throws {
    let result = try await play(ExtensionRehearsal(program: try BuiltExtensions.program("PlainHTTP")), "ok")
    #expect(try subtitles(result) == ["error -1022"])
    #expect(result.warnings.first?.message.contains(" http://stats.example.com/received;") == true, "\(result.warnings)")
  }

  @Test func `a finding about time names the rehearsed time, and how to have a phone's`() async throws {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Answers/NoExpiry.swift"))
    rehearsal.timeScale = 0.5
    let message = try #require(try await play(rehearsal, "slow").findings.first { $0.kind == .answerNever }?.message)
    #expect(message.contains("the rehearsal gives 0.6 s") && message.contains("--time-scale 25"), "\(message)")
  }

  @Test func `a payload of plain http is a finding of the extension that fetches it`() async throws {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Careful.swift"))
    let line = #"{"aps":{"alert":"Hello","mutable-content":1},"image":"http://cdn.example.com/a.jpg","n":-12.50,"large":1e300}"#
    rehearsal.payload = try RehearsalPayload(line: Array(line.utf8))
    let result = try await play(rehearsal, "http")
    #expect(result.warnings.map(\.kind) == [.fetchScheme], "\(result.warnings)")
    let before = String(decoding: try #require(result.lines.first?.before), as: UTF8.self)
    #expect(before.contains("http://cdn.example.com/http/photo.jpg"))
    // Numbers keep their values.
    #expect(before.contains(#""n":-125e-1"#) && before.contains(#""large":1e300"#), "\(before)")
  }

  @Test func `a payload is opened from its envelope`() throws {
    let payload = #"{"aps":{"alert":{"body":"Hello"},"mutable-content":1},"image":"https://cdn.example/a.jpg"}"#
    for line in [payload, #"{"message":{"token":"t","apns":{"headers":{"apns-priority":"5"},"payload":\#(payload)}}}"#] {
      #expect(try RehearsalPayload(line: Array(line.utf8)).whyNotStarted == nil)
    }
    for line in ["", "[]", #"{"aps":"#] {
      #expect(throws: RehearsalPayload.Refusal.self) { try RehearsalPayload(line: Array(line.utf8)) }
    }
  }

  @Test(arguments: [
    (#"{"aps":{"alert":"a"}}"#, "mutable-content"), (#"{"aps":{"alert":"a","mutable-content":0}}"#, "mutable-content"),
    (#"{"aps":{"mutable-content":1}}"#, "no alert"), (#"{"aps":{"alert":"","mutable-content":1}}"#, "no alert"),
    (#"{"aps":{"alert":{"title":""},"mutable-content":1}}"#, "no alert"),
  ])
  func `a rehearsal says why iOS starts no extension for a payload`(line: String, words: String) throws {
    #expect(try RehearsalPayload(line: Array(line.utf8)).whyNotStarted?.contains(words) == true)
  }

  @Test func `what a finding means is the first sentence of its page, and the article links to it`() throws {
    let pages = (BuiltExtensions.fixtures as NSString).appendingPathComponent("../../Sources/AttacheTesting/AttacheTesting.docc")
    let article = try String(contentsOfFile: "\(pages)/ServiceExtensions.md", encoding: .utf8)
    for kind in ExtensionFinding.kinds {
      let name = kind.rawValue.replacingOccurrences(of: ".", with: "-")
      let isOfApp = kind.rawValue.hasPrefix("silent.") || kind.rawValue.hasPrefix("background.")
      let folder = isOfApp ? "SilentPushes" : "ServiceExtensions"
      #expect(article.contains("<doc:\(name)>"), "\(name)")
      let lines = try String(contentsOfFile: "\(pages)/\(folder)/\(name).md", encoding: .utf8).split(separator: "\n")
      // A meaning has no code font.
      let first = lines[1].replacingOccurrences(of: "`", with: "")
      #expect(lines[0] == "# \(kind.rawValue)" && first == kind.meaning, "\(first)")
    }
  }
}
