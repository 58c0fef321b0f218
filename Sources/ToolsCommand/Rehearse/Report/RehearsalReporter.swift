internal import Attache
internal import AttacheTesting
internal import Synchronization

/// Receives the results, compares them with the baseline, and passes them to every report. Any
/// thread may call it.
final class RehearsalReporter: Sendable {
  private struct State {
    var reports: [any RehearsalReport]
    var start = MonotonicInstant.now
    var line = RunningLine()

    /// Calls `body` with every report, and hides the line of running scenarios meanwhile.
    mutating func notify(_ body: (inout any RehearsalReport) -> Void) {
      line.clear()
      for index in reports.indices { body(&reports[index]) }
      line.draw()
    }
  }

  private let state: Mutex<State>
  private let baseline: Baseline?

  init(_ reports: [any RehearsalReport], baseline: Baseline?) {
    state = Mutex(State(reports: reports))
    self.baseline = baseline
  }

  func begin(_ plan: RehearsalPlan) {
    state.withLock { state in
      state.line.total = plan.count
      state.notify { $0.begin(plan) }
    }
  }

  /// Records that a scenario begins.
  func begin(_ scenario: Scenario) {
    state.withLock { state in
      state.line.begin(scenario.name)
      state.line.draw()
    }
  }

  func add(_ result: ScenarioResult) {
    let judged = judge(result)
    state.withLock { state in
      state.line.end(result.scenario.name)
      state.notify { $0.add(judged) }
    }
  }

  /// Returns the result with the findings of the baseline added.
  func judge(_ result: ScenarioResult) -> ScenarioResult {
    var judged = result
    judged.findings += baseline?.findings(result) ?? []
    return judged
  }

  /// Tells the reports that a signal has ended the rehearsal. ``end(_:)`` follows.
  func interrupt() {
    state.withLock { state in state.notify { $0.interrupt() } }
  }

  /// Finishes every report, even when another one cannot be written.
  ///
  /// - Parameter results: all results, or those so far, judged, in their order.
  /// - Returns: whether all reports were written. Errors are written to standard error.
  func end(_ results: [ScenarioResult]) -> Bool {
    state.withLock { state in
      let elapsed = state.start.duration(to: .now)
      state.line.clear()
      var isWritten = true
      for index in state.reports.indices {
        do throws(ReportFailure) {
          try state.reports[index].end(results, elapsed: elapsed)
        } catch {
          Terminal.error.write("attache rehearse: \(error)\n")
          isWritten = false
        }
      }
      return isWritten
    }
  }
}
