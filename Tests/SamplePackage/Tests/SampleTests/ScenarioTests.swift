import Attache
import AttacheTesting
import Foundation
import Testing

/// Scenarios from files and from Swift, on the real clock and on the virtual one.
@Suite(.timeLimit(.minutes(1)))
struct ScenarioTests {
  /// The folder of the scenario files: `Scenarios` in the package.
  private static let folder = URL(filePath: #filePath).appending(path: "../../../Scenarios").standardizedFileURL.path

  @Test(arguments: ["photo-stalls", "photo-is-gone"])
  func `a file goes as it says, on both clocks`(name: String) async throws {
    let scenario = try Scenario(contentsOfFile: "\(Self.folder)/\(name).yaml")
    let result = await ScenarioRunner(clock: .both).run(scenario)
    #expect(result.passed, "\(result.findings)")
  }

  @Test func `half a minute passes in no time on the virtual clock`() async throws {
    var scenario = Scenario(
      name: "origin-sleeps", file: #filePath,
      payloads: [#"{"aps":{"alert":"Hi","mutable-content":1},"image":"{{origin}}/photo.jpg"}"#])
    var origin = OriginScript()
    origin.paths["/photo.jpg"] = PathScript(responses: [[OriginStep(.status(200), at: .seconds(60))]])
    scenario.origins["origin"] = origin
    scenario.deadline = .seconds(30)
    scenario.expectation.payloads = [ScenarioExpectation.OfPayload(outcome: .fallback, reason: .deadline, media: [.deadline])]
    let result = await ScenarioRunner(clock: .virtual).run(scenario)
    #expect(result.passed, "\(result.findings)")
    #expect(result.elapsed < .seconds(10))
  }

  @Test func `what does not go as expected is found, and named`() async throws {
    var scenario = try Scenario(contentsOfFile: "\(Self.folder)/photo-is-gone.yaml")
    scenario.expectation.payloads = [ScenarioExpectation.OfPayload(outcome: .attached)]
    let result = await ScenarioRunner(clock: .virtual).run(scenario)
    #expect(result.findings.contains { $0.kind == .outcome && $0.payload == 1 })
  }
}
