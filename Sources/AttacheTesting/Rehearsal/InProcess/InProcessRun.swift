internal import Attache
internal import Synchronization

/// Plays a scenario with attache's engine in this process, on the real clock, with real libcurl,
/// sockets, DNS, TLS and disk.
package enum InProcessRun {
  /// Plays a scenario and tears its environment down.
  ///
  /// - Returns: the evidence of the run.
  /// - Throws: ``StageError`` when the environment could not be set up, or failed.
  package static func run(_ scenario: Scenario) async throws(StageError) -> Evidence {
    let observer = Mutex<(@Sendable () -> Void)?>(nil)
    let stage = try await ScenarioStage(scenario) { _ in observer.withLock { $0 }?() }
    let play = InProcessRunner(on: stage)
    observer.withLock { $0 = play.observe }
    let result = await withTaskCancellationHandler {
      await RehearsalThread.attempt(in: stage.network) { () throws(StageError) in try play.run() }
    } onCancel: {
      play.cancel()
    }
    await stage.takeDown()
    if let failure = stage.failure { throw failure }
    return try result.get()
  }

  static func play(_ scenario: Scenario) async -> Result<Evidence, StageError> {
    do throws(StageError) { return .success(try await run(scenario)) } catch { return .failure(error) }
  }
}
