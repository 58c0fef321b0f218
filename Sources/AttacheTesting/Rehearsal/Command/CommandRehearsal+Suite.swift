internal import Attache
internal import FoundationEssentials

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
    _ scenarios: [Scenario], parallel: Int? = nil, report: @escaping @Sendable (ScenarioResult) -> Void = { _ in },
    began: @escaping @Sendable (Scenario) -> Void = { _ in }
  ) async -> [ScenarioResult] {
    var results = [ScenarioResult?](repeating: nil, count: scenarios.count)
    if let scout = scout(of: scenarios) {
      began(scenarios[scout])
      let result = await run(scenarios[scout])
      report(result)
      results[scout] = result
      if result.isSilentHang, !goesOnAfterHang {
        return skipped(scenarios, results, "not rehearsed: the command hung in \(scenarios[scout].name)", report)
      }
    }
    await playRest(scenarios, &results, width: parallel ?? 2 * ProcessInfo.processInfo.activeProcessorCount, began, report)
    return results.compactMap { $0 }
  }

  private func playRest(
    _ scenarios: [Scenario], _ results: inout [ScenarioResult?], width: Int, _ began: @escaping @Sendable (Scenario) -> Void,
    _ report: @escaping @Sendable (ScenarioResult) -> Void
  ) async {
    await withTaskGroup(of: (Int, ScenarioResult).self) { group in
      var running = 0
      for index in scenarios.indices where results[index] == nil {
        if running == width, let (index, result) = await group.next() { results[index] = result } else { running += 1 }
        guard !Task.isCancelled else { break }
        began(scenarios[index])
        group.addTask {
          let result = await run(scenarios[index])
          report(result)
          return (index, result)
        }
      }
      for await (index, result) in group { results[index] = result }
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

  private func skipped(
    _ scenarios: [Scenario], _ results: [ScenarioResult?], _ reason: String, _ report: (ScenarioResult) -> Void
  ) -> [ScenarioResult] {
    zip(scenarios, results).map { scenario, result in
      if let result { return result }
      var skip = ScenarioResult(scenario, depth: .command, seed: seed)
      skip.skipped = reason
      report(skip)
      return skip
    }
  }
}

extension ScenarioResult {
  /// Whether the command neither wrote anything nor ended.
  fileprivate var isSilentHang: Bool {
    findings.map(\.kind) == [.hung] && payloads.allSatisfy { $0.lateness == nil }
  }
}
