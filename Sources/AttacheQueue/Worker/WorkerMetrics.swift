package import Attache
package import AttacheMetrics
internal import Synchronization

/// Counters and histograms of a worker since its start.
package final class WorkerMetrics: WorkerObserver, MetricsSource {
  private struct State {
    var payloads = PayloadMetrics()
    var postponed: [Reason?: Int] = [:]
    var refused = 0
    var holding = 0
    /// Why the worker claims nothing.
    var pause: String?
    var lateness = Histogram([0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5])
  }

  private let state = Mutex(State())

  package init() {}

  /// Sets the function that says how long a conversion waits (``EngineAssembly/conversionWait``).
  package func use(conversionWait: (@Sendable () -> Duration)?) {
    state.withLock { $0.payloads.conversionWait = conversionWait }
  }

  package func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, lateness: Duration, media: [MediaRecord]) {
    state.withLock { state in
      state.payloads.finished(outcome, reason, elapsed: elapsed, media: media)
      state.lateness.observe(max(0, lateness / .seconds(1)))
    }
  }

  package func postponed(_ reason: Reason?) {
    state.withLock { $0.postponed[reason, default: 0] += 1 }
  }

  package func refused() {
    state.withLock { $0.refused += 1 }
  }

  package func holding(_ payloads: Int) {
    state.withLock { $0.holding = payloads }
  }

  package func paused(_ why: String?) {
    state.withLock { $0.pause = why }
  }

  /// Why the worker claims nothing; nil when it does.
  package var pause: String? { state.withLock(\.pause) }

  /// Writes the metric families. Each known label value starts with 0, so that its first event is
  /// an increase.
  package func write(to text: inout MetricsText) {
    let state = state.withLock { $0 }
    state.payloads.write(to: &text)
    text.family("attache_payloads_postponed_total", .counter, "Payloads that were given back for a later attempt, by reason.")
    for reason in Reason.allCases { text.sample(state.postponed[reason] ?? 0, ["reason": reason.rawValue]) }
    if let unnamed = state.postponed[nil] { text.sample(unnamed, ["reason": ""]) }
    text.family("attache_results_refused_total", .counter, "Results that came after another worker had taken over the payload.")
    text.sample(state.refused)
    text.gauge("attache_payloads_in_flight", "Payloads that this worker has leased.", Double(state.holding))
    text.gauge(
      "attache_worker_paused", "Whether the worker waits for a repair of the machine, such as of a full disk.", state.pause == nil ? 0 : 1)
    text.histogram(
      "attache_result_lateness_seconds", "How long after its deadline a result was written to the queue; 0 is in time.", state.lateness)
  }
}
