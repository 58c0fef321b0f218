internal import Attache
internal import AttacheTesting

/// All scenarios, with all their seeds.
struct Rehearsal: Sendable {
  /// What plays them.
  enum Player: Sendable {
    case engine(ClockChoice, timeScale: Double, parallel: Int?)
    case command(CommandRehearsal, parallel: Int?)
    case queue(QueueRehearsal, parallel: Int?)
  }

  private let scenarios: [Scenario]
  private let player: Player
  private let seeds: [UInt64]
  private let isSeeded: Bool

  init(_ scenarios: [Scenario], player: Player, seeds: [UInt64], isSeeded: Bool) {
    (self.scenarios, self.player, self.seeds, self.isSeeded) = (scenarios, player, seeds, isSeeded)
  }

  /// As reports name it.
  var clock: String {
    switch player {
    case .engine(let clock, _, _): clock.rawValue
    case .command: "command"
    case .queue(let rehearsal, _): "queue \(rehearsal.kind.rawValue)"
    }
  }

  var depth: ScenarioResult.Depth {
    switch player {
    case .engine(.virtual, _, _): .virtual
    case .engine(.real, _, _), .engine(.both, _, _): .real
    case .command: .command
    case .queue: .queue
    }
  }

  /// Plays them, and tells the desk.
  ///
  /// - Parameter gone: what is known to fail before anything is played.
  func perform(_ desk: ReportDesk, _ gone: [ScenarioResult]) async -> [ScenarioResult] {
    let width = (scenarios.map(\.name) + gone.map(\.scenario.name)).map(\.count).max() ?? 0
    desk.begin(
      RehearsalPlan(
        count: scenarios.count * seeds.count + gone.count, clock: clock, seed: seeds[0], nameWidth: width, isSeeded: isSeeded))
    for result in gone { desk.add(result) }
    var results = gone
    for seed in seeds where !Task.isCancelled {
      results += await play(seed) { desk.add($0) }
    }
    return results.map(desk.judge)
  }

  private func play(_ seed: UInt64, _ tell: @escaping @Sendable (ScenarioResult) -> Void) async -> [ScenarioResult] {
    switch player {
    case .engine(let clock, let timeScale, let parallel):
      return await ScenarioRunner(clock: clock.clock, timeScale: timeScale, seed: seed, parallel: parallel).run(scenarios, report: tell)
    case .command(var rehearsal, let parallel):
      rehearsal.seed = seed
      return await rehearsal.run(scenarios, parallel: parallel, report: tell)
    case .queue(var rehearsal, let parallel):
      rehearsal.seed = seed
      return await rehearsal.run(scenarios, parallel: parallel, report: tell)
    }
  }
}
