internal import AttacheTesting

/// Plays scenarios with attache's engine in this process.
struct EngineRehearsal {
  init(_ clock: ClockChoice, timeScale: Double, seed: UInt64, parallel: Int?) {}

  func run(_ scenarios: [Scenario], _ tell: @escaping @Sendable (ScenarioResult) -> Void) async -> [ScenarioResult] { [] }
}
