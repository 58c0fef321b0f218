import AttacheTesting
import Foundation

/// The scenarios of Fixtures/scenarios.
enum ShippedScenarios {
  static let folder = Sample.fixtures + "/scenarios"

  /// All of them, by their names; they are read once.
  static func all() throws -> [Scenario] { try read.get() }

  private static let read = Result {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
    return try files.sorted().map { try Scenario(contentsOfFile: "\(folder)/\($0)") }
  }

  /// What came of them in this process on both clocks: they are played once, for every test that
  /// asks.
  static let played = Task {
    await ScenarioRunner(clock: .both).run(try all())
  }

  /// What plays them through the built worker of a queue.
  static func queue(_ kind: QueueRehearsal.Kind) -> QueueRehearsal {
    var rehearsal = QueueRehearsal(kind)
    rehearsal.environment = ["PATH": AttacheTool.folder + ":/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"]
    return rehearsal
  }
}
