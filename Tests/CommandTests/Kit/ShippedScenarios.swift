import AttacheTesting
import Foundation

/// The scenarios of Fixtures/scenarios.
enum ShippedScenarios {
  static let folder = Sample.fixtures + "/scenarios"

  /// All scenarios by name, read once.
  static func all() throws -> [Scenario] { try read.get() }

  private static let read = Result {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
    return try files.sorted().map { try Scenario(contentsOfFile: "\(folder)/\($0)") }
  }

  /// The results in this process on both clocks. The scenarios are played once, for all tests.
  static let played = Task {
    await ScenarioRunner(clock: .both).run(try all())
  }

  /// Plays the scenarios through the built worker of a queue.
  static func queue(_ kind: QueueRehearsal.Kind) -> QueueRehearsal {
    var rehearsal = QueueRehearsal(kind)
    rehearsal.environment = ["PATH": AttacheTool.folder + ":/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"]
    return rehearsal
  }
}
