internal import Attache
internal import AttacheTesting
internal import Synchronization

/// Where results arrive, from wherever they are played: compared with the baseline, and handed to every report.
final class ReportDesk: Sendable {
  private struct State {
    var reports: [any RehearsalReport]
    var start = MonotonicInstant.now
  }

  private let state: Mutex<State>
  private let baseline: Baseline?

  init(_ reports: [any RehearsalReport], baseline: Baseline?) {
    state = Mutex(State(reports: reports))
    self.baseline = baseline
  }

  func begin(_ plan: RehearsalPlan) {
    state.withLock { state in
      for index in state.reports.indices { state.reports[index].begin(plan) }
    }
  }

  func add(_ result: ScenarioResult) {
    let judged = judge(result)
    state.withLock { state in
      for index in state.reports.indices { state.reports[index].add(judged) }
    }
  }

  /// The result with what the baseline says against it.
  func judge(_ result: ScenarioResult) -> ScenarioResult {
    var judged = result
    judged.findings += baseline?.findings(result) ?? []
    return judged
  }

  /// Nothing more will come, although it should have.
  func interrupt() {
    state.withLock { state in
      for index in state.reports.indices { state.reports[index].interrupt() }
    }
  }

  /// Finishes every report, also when another cannot be written.
  ///
  /// - Parameter results: all of them, judged, in their order.
  /// - Returns: whether all are written; else standard error says what went wrong.
  func end(_ results: [ScenarioResult]) -> Bool {
    state.withLock { state in
      let elapsed = state.start.duration(to: .now)
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
