internal import Attache
internal import AttacheTesting
internal import Synchronization

/// Where results arrive, from wherever they are played: compared with the baseline, and handed to
/// every report.
final class ReportDesk: Sendable {
  private struct State {
    var reports: [any RehearsalReport]
    var start = MonotonicInstant.now
    var line = RunningLine()

    /// Tells every report, with the line of what is running out of the way.
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

  /// A scenario begins.
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

  /// The result with what the baseline says against it.
  func judge(_ result: ScenarioResult) -> ScenarioResult {
    var judged = result
    judged.findings += baseline?.findings(result) ?? []
    return judged
  }

  /// A signal has ended the rehearsal; ``end(_:)`` follows.
  func interrupt() {
    state.withLock { state in state.notify { $0.interrupt() } }
  }

  /// Finishes every report, also when another cannot be written.
  ///
  /// - Parameter results: all of them, or those so far, judged, in their order.
  /// - Returns: whether all are written; else standard error says what went wrong.
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
