internal import Glibc

/// Plays scenarios in parallel.
struct ScenarioSuite {
  private let parallel: Int

  /// - Parameter parallel: the number of scenarios at a time; nil is twice the number of
  ///   processors.
  init(parallel: Int?) {
    self.parallel = max(1, parallel ?? 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// Plays the scenarios. Those that measure memory or descriptors are played alone at the end.
  /// When the task is cancelled, the remaining ones are not played.
  ///
  /// - Returns: the results in the order of the scenarios.
  func run(
    _ scenarios: [Scenario], _ began: @escaping @Sendable (Scenario) -> Void, _ report: (ScenarioResult) -> Void,
    play: @escaping @Sendable (Scenario) async -> ScenarioResult
  ) async -> [ScenarioResult] {
    let (together, alone) = (scenarios.indices.filter { !scenarios[$0].isMeasured }, scenarios.indices.filter { scenarios[$0].isMeasured })
    var results: [Int: ScenarioResult] = [:]
    await withTaskGroup(of: (Int, ScenarioResult).self) { group in
      var waiting = together[...]
      func startNext() {
        guard !Task.isCancelled, let index = waiting.popFirst() else { return }
        began(scenarios[index])
        group.addTask { (index, await play(scenarios[index])) }
      }
      for _ in 0..<parallel { startNext() }
      for await (index, result) in group {
        results[index] = result
        report(result)
        startNext()
      }
    }
    for index in alone where !Task.isCancelled {
      began(scenarios[index])
      let result = await play(scenarios[index])
      results[index] = result
      report(result)
    }
    return scenarios.indices.compactMap { results[$0] }
  }
}

extension Scenario {
  /// Whether the scenario measures resources that all scenarios in one process share.
  fileprivate var isMeasured: Bool {
    expectation.memory != nil || expectation.descriptors != nil
  }
}
