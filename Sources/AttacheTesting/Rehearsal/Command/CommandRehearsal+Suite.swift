internal import Attache

extension CommandRehearsal {
  /// Plays scenarios, in parallel where they do not disturb each other.
  ///
  /// The scenario with the shortest deadline is played first and alone. If the command hangs there
  /// without output, it would hang in all others too, so they are not played, unless
  /// ``goesOnAfterHang`` is set. When the task is cancelled, the remaining scenarios are not
  /// played.
  ///
  /// - Parameters:
  ///   - scenarios: the scenarios to play.
  ///   - parallel: the number of scenarios at a time; nil is two for each core.
  ///   - report: called with each result as it arrives.
  ///   - began: called with each scenario as it begins.
  /// - Returns: the results in the order of the scenarios.
  public func run(
    _ scenarios: [Scenario], parallel: Int? = nil, report: (ScenarioResult) -> Void = { _ in },
    began: @escaping @Sendable (Scenario) -> Void = { _ in }
  ) async -> [ScenarioResult] {
    var played: [Int: ScenarioResult] = [:]
    if let scout = scout(of: scenarios) {
      began(scenarios[scout])
      let result = await run(scenarios[scout])
      report(result)
      played[scout] = result
      if result.isSilentHang, !goesOnAfterHang {
        for (index, scenario) in scenarios.enumerated() where index != scout {
          var skip = ScenarioResult(scenario, depth: .command, seed: seed)
          skip.skipped = "not rehearsed: the command hung in \(scenarios[scout].name); --keep-going plays the others all the same"
          report(skip)
          played[index] = skip
        }
      }
    }
    return await ScenarioSuite(parallel: parallel).run(scenarios, played: played, measuresAlone: false, began, report) { scenario in
      await run(scenario)
    }
  }

  /// Returns the scenario that detects a hanging command soonest.
  private func scout(of scenarios: [Scenario]) -> Int? {
    let fit = scenarios.indices.filter { index in
      let scenario = scenarios[index]
      return reasonToSkip(scenario) == nil && !scenario.payloads.isEmpty && scenario.disk == nil
    }
    return fit.min { scenarios[$0].deadline < scenarios[$1].deadline }
  }
}

extension ScenarioResult {
  /// Whether the command neither wrote anything nor ended.
  fileprivate var isSilentHang: Bool {
    findings.map(\.kind) == [.hung] && payloads.allSatisfy { $0.lateness == nil }
  }
}
