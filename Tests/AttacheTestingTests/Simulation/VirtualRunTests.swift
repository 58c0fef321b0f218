import Attache
import Foundation
import Testing

@testable import AttacheTesting

@Suite(.timeLimit(.minutes(1)))
struct VirtualRunTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fixtures/scenarios").standardized.path

  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".yaml") }.sorted()

  @Test(arguments: files)
  func `a shipped scenario passes on the virtual clock`(_ file: String) async throws {
    let scenario = try Scenario(contentsOfFile: "\(Self.folder)/\(file)")
    for seed in UInt64(0)..<3 {
      let result = await ScenarioRunner(clock: .virtual, seed: seed).run(scenario)
      #expect(result.findings.isEmpty, "seed \(seed)")
    }
  }
}
