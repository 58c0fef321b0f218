internal import Glibc

/// Plays scenarios in parallel.
struct ScenarioSuite {
  private let parallel: Int

  /// - Parameter parallel: the number of scenarios at a time; nil is twice the number of
  ///   processors.
  init(parallel: Int?) {
    self.parallel = max(1, parallel ?? 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// Plays the scenarios. When the task is cancelled, the remaining ones are not played.
  ///
  /// - Parameters:
  ///   - played: the results of the scenarios that are not played any more, by index.
  ///   - measuresAlone: whether those that measure memory or descriptors are played alone at the
  ///     end, because all scenarios share one process.
  /// - Returns: the results in the order of the scenarios.
  func run(
    _ scenarios: [Scenario], played: [Int: ScenarioResult] = [:], measuresAlone: Bool = true,
    _ began: @escaping @Sendable (Scenario) -> Void, _ report: (ScenarioResult) -> Void,
    play: @escaping @Sendable (Scenario) async -> ScenarioResult
  ) async -> [ScenarioResult] {
    var results = played
    let waiting = scenarios.indices.filter { played[$0] == nil }
    let alone = measuresAlone ? waiting.filter { scenarios[$0].isMeasured } : []
    for (indices, width) in [(waiting.filter { !alone.contains($0) }, parallel), (alone, 1)] {
      await withTaskGroup(of: (Int, ScenarioResult).self) { group in
        var waiting = indices[...]
        func startNext() {
          guard !Task.isCancelled, let index = waiting.popFirst() else { return }
          began(scenarios[index])
          group.addTask { (index, await play(scenarios[index])) }
        }
        for _ in 0..<width { startNext() }
        for await (index, result) in group {
          results[index] = result
          report(result)
          startNext()
        }
      }
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
