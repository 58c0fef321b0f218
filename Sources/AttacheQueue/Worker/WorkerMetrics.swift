package import Attache
package import AttacheMetrics
internal import Synchronization

/// Counters and histograms of a worker since its start.
package final class WorkerMetrics: WorkerObserver, MetricsSource {
  private struct OutcomeKey: Hashable {
    var outcome: Outcome
    var reason: Reason? = nil
  }

  private struct State {
    var finished: [OutcomeKey: Int] = [:]
    var postponed: [Reason?: Int] = [:]
    var refused = 0
    var holding = 0
    /// Why the worker claims nothing.
    var pause: String?
    var media: [MediaRecord.Cache: Int] = [:]
    var bytes = 0
    var conversions = 0
    /// How long a conversion waits (``EngineAssembly/conversionWait``); nil if nothing is converted.
    var conversionWait: (@Sendable () -> Duration)?
    var payloadTime = Histogram(seconds)
    var fetchTime = Histogram(seconds)
    var lateness = Histogram([0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5])
  }

  /// Bounds from a file in the cache to the usual deadline of 30 s.
  private static let seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

  private let state = Mutex(State())

  package init() {}

  /// Sets the function that says how long a conversion waits (``EngineAssembly/conversionWait``).
  package func use(conversionWait: (@Sendable () -> Duration)?) {
    state.withLock { $0.conversionWait = conversionWait }
  }

  package func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, lateness: Duration, media: [MediaRecord]) {
    state.withLock { state in
      state.finished[OutcomeKey(outcome: outcome, reason: reason), default: 0] += 1
      state.payloadTime.observe(elapsed / .seconds(1))
      state.lateness.observe(max(0, lateness / .seconds(1)))
      for record in media {
        state.media[record.cache, default: 0] += 1
        if record.cache == .miss { state.bytes += record.bytes }
        if record.converted != nil { state.conversions += 1 }
        if let total = record.timing.total { state.fetchTime.observe(total / .seconds(1)) }
      }
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
    text.family("attache_payloads_total", .counter, "Payloads that got their result, by outcome and by reason (empty for none).")
    let usual =
      [OutcomeKey(outcome: .attached), OutcomeKey(outcome: .invalid, reason: .payloadJSON)]
      + Reason.ofPassingLines.map { OutcomeKey(outcome: .passthrough, reason: $0) }
      + Reason.allCases.map { OutcomeKey(outcome: .fallback, reason: $0) }
    for key in usual + Self.sorted(state.finished.keys.filter { !usual.contains($0) }) {
      text.sample(state.finished[key] ?? 0, ["outcome": key.outcome.rawValue, "reason": key.reason?.rawValue ?? ""])
    }
    text.family("attache_payloads_postponed_total", .counter, "Payloads that were given back for a later attempt, by reason.")
    for reason in Reason.allCases { text.sample(state.postponed[reason] ?? 0, ["reason": reason.rawValue]) }
    if let unnamed = state.postponed[nil] { text.sample(unnamed, ["reason": ""]) }
    text.family("attache_results_refused_total", .counter, "Results that came after another worker had taken over the payload.")
    text.sample(state.refused)
    text.gauge("attache_payloads_in_flight", "Payloads that this worker has leased.", Double(state.holding))
    text.gauge(
      "attache_worker_paused", "Whether the worker waits for a repair of the machine, such as of a full disk.", state.pause == nil ? 0 : 1)
    text.family("attache_media_total", .counter, "Media references of the payloads, by the source of their bytes.")
    for cache in MediaRecord.Cache.allCases { text.sample(state.media[cache] ?? 0, ["cache": cache.rawValue]) }
    text.family("attache_media_received_bytes_total", .counter, "Bytes of media that origins sent.")
    text.sample(state.bytes)
    text.family("attache_conversions_total", .counter, "Media of the payloads that were attached as a converted picture.")
    text.sample(state.conversions)
    if let wait = state.conversionWait {
      text.gauge(
        "attache_conversion_wait_seconds", "How long a picture that comes now is expected to wait at most until its conversion begins.",
        wait() / .seconds(1))
    }
    text.histogram("attache_payload_duration_seconds", "How long a payload took, from its start until its decision.", state.payloadTime)
    text.histogram("attache_fetch_duration_seconds", "How long a media reference took, with all its attempts.", state.fetchTime)
    text.histogram(
      "attache_result_lateness_seconds", "How long after its deadline a result was written to the queue; 0 is in time.", state.lateness)
  }

  private static func sorted(_ keys: [OutcomeKey]) -> [OutcomeKey] {
    keys.sorted { ($0.outcome.rawValue, $0.reason?.rawValue ?? "") < ($1.outcome.rawValue, $1.reason?.rawValue ?? "") }
  }
}
