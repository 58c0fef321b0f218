internal import Attache
internal import Glibc
internal import Synchronization

/// Plays a scenario with attache's whole engine on a simulated machine. A deadline of 30 s takes no
/// time there, and a seed determines the order in which threads run.
package enum VirtualRun {
  /// Plays a scenario and tears its environment down.
  ///
  /// - Parameter seed: the seed of the interleaving; the same seed gives the same run.
  /// - Returns: the evidence of the run.
  /// - Throws: ``StageError`` when the environment could not be set up, or failed.
  package static func run(_ scenario: Scenario, seed: UInt64) async throws(StageError) -> Evidence {
    try await play(scenario, seed: seed).get()
  }

  static func play(_ scenario: Scenario, seed: UInt64) async -> Result<Evidence, StageError> {
    await RehearsalThread.attempt { () throws(StageError) in try VirtualPlay(VirtualStage(scenario, seed: seed)).run() }
  }
}

/// A run of the engine on a virtual stage.
private final class VirtualPlay: Sendable {
  private let stage: VirtualStage
  private let exitStatus = Mutex<Int32?>(nil)

  private var simulation: Simulation { stage.simulation }

  init(_ stage: VirtualStage) {
    self.stage = stage
  }

  func run() throws(StageError) -> Evidence {
    defer { stage.takeDown() }
    let (input, wall) = (try stage.openInput(), MonotonicInstant.now)
    defer { close(input) }
    let ending: Simulation.Ending
    do throws(SystemError) {
      ending = try simulation.run { self.playOut(input) }
    } catch {
      throw StageError(error)
    }
    if let failure = stage.failure { throw failure }
    var evidence = stage.evidence()
    evidence.exitStatus = exitStatus.withLock { $0 }
    evidence.hung = ending == .hung
    evidence.elapsed = wall.duration(to: .now)
    return evidence
  }

  // MARK: On the simulated machine

  private func playOut(_ input: Int32) {
    do throws(InProcessEngine.Refusal) {
      let engine = try InProcessEngine(stage.configuration, serviceExtension: stage.scenario.serviceExtension, network: stage.fetchNetwork)
      stage.timeline.start = simulation.now
      schedule(stage.scenario.stop, of: engine)
      let status = engine.run(input: input, output: stage.output.descriptor, on: stage.timeline)
      exitStatus.withLock { $0 = status }
      engine.shutdown()
    } catch {
      stage.timeline.note(.filter, "does not start: \(error.reason)")
      exitStatus.withLock { $0 = error.status }
    }
  }

  /// Stops the filter at the scripted time; the input stays open until then. If all lines are
  /// already answered, or without a stop, it ends the input instead.
  private func schedule(_ stop: StopScript?, of engine: InProcessEngine) {
    guard let stop, stage.scenario.endsWithLineFeed else { return stage.source.end() }
    engine.schedule(stop, on: stage.timeline) { [stage] in
      stage.output.look(at: stage.simulation.now)
      guard stage.output.arrivals.count >= stage.input.count else { return false }
      stage.source.end()
      return true
    }
  }
}
