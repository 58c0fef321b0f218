internal import Attache
internal import AttacheTesting

/// A run of all scenarios with all seeds.
struct Rehearsal: Sendable {
  /// What plays the scenarios.
  enum Player: Sendable {
    case engine(ClockChoice, timeScale: Double, parallel: Int?)
    case command(CommandRehearsal, parallel: Int?)
    case queue(QueueRehearsal, parallel: Int?)
    case serviceExtension(ExtensionRehearsal, [ExtensionSituation])
  }

  private let scenarios: [Scenario]
  private let player: Player
  private let seeds: [UInt64]
  private let isSeeded: Bool
  /// What a reader must know about the limits of the rehearsal.
  var notes: [String] = []

  init(_ scenarios: [Scenario], player: Player, seeds: [UInt64], isSeeded: Bool) {
    (self.scenarios, self.player, self.seeds, self.isSeeded) = (scenarios, player, seeds, isSeeded)
  }

  /// The name of the clock in reports.
  var clock: String {
    switch player {
    case .engine(let clock, _, _): clock.rawValue
    case .command: "command"
    case .queue(let rehearsal, _): "queue \(rehearsal.place.kind)"
    case .serviceExtension: "extension"
    }
  }

  var depth: ScenarioResult.Depth {
    switch player {
    case .engine(.virtual, _, _): .virtual
    case .engine(.real, _, _), .engine(.both, _, _): .real
    case .command: .command
    case .queue: .queue
    case .serviceExtension: .serviceExtension
    }
  }

  /// Plays the scenarios and passes each result to the reporter.
  ///
  /// - Parameter known: the results that are known before anything is played.
  /// - Returns: all results, judged by the reporter.
  func perform(_ reporter: RehearsalReporter, _ known: [ScenarioResult]) async -> [ScenarioResult] {
    let width = (scenarios.map(\.name) + known.map(\.scenario.name)).map(\.count).max() ?? 0
    reporter.begin(
      RehearsalPlan(
        count: scenarios.count * seeds.count + known.count, clock: clock, seed: seeds[0], nameWidth: width, isSeeded: isSeeded,
        notes: notes))
    for result in known { reporter.add(result) }
    var results = known
    for seed in seeds where !Task.isCancelled { results += await play(seed, reporter) }
    return results.map(reporter.judge)
  }

  private func play(_ seed: UInt64, _ reporter: RehearsalReporter) async -> [ScenarioResult] {
    let began: @Sendable (Scenario) -> Void = { reporter.begin($0) }
    let notify: @Sendable (ScenarioResult) -> Void = { reporter.add($0) }
    switch player {
    case .engine(let clock, let timeScale, let parallel):
      return await ScenarioRunner(clock: clock.clock, timeScale: timeScale, seed: seed, parallel: parallel).run(
        scenarios, report: notify, began: began)
    case .command(var rehearsal, let parallel):
      rehearsal.seed = seed
      return await rehearsal.run(scenarios, parallel: parallel, report: notify, began: began)
    case .queue(var rehearsal, let parallel):
      rehearsal.seed = seed
      return await rehearsal.run(scenarios, parallel: parallel, report: notify, began: began)
    case .serviceExtension(let rehearsal, let situations):
      return await rehearsal.run(situations, file: scenarios.first?.file ?? "", report: notify, began: began)
    }
  }
}
