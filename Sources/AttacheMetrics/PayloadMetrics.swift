package import Attache

/// Counters and histograms of payloads and their media. A pure value.
package struct PayloadMetrics: Sendable {
  private struct OutcomeKey: Hashable {
    var outcome: Outcome
    var reason: Reason? = nil
  }

  /// Bounds from a file in the cache to the usual deadline of 30 s.
  private static let seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

  private var finished: [OutcomeKey: Int] = [:]
  private var media: [MediaRecord.Cache: Int] = [:]
  private var bytes = 0
  private var conversions = 0
  private var payloadTime = Histogram(seconds)
  private var fetchTime = Histogram(seconds)
  /// How long a conversion waits (``EngineAssembly/conversionWait``); nil if nothing is converted.
  package var conversionWait: (@Sendable () -> Duration)?

  package init() {}

  /// Counts a payload that has its result.
  ///
  /// - Parameters:
  ///   - elapsed: the time from its start until its decision.
  ///   - records: the record of each media reference.
  package mutating func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, media records: [MediaRecord]) {
    finished[OutcomeKey(outcome: outcome, reason: reason), default: 0] += 1
    payloadTime.observe(elapsed / .seconds(1))
    for record in records {
      media[record.cache, default: 0] += 1
      if record.cache == .miss { bytes += record.bytes }
      if record.converted != nil { conversions += 1 }
      if let total = record.timing.total { fetchTime.observe(total / .seconds(1)) }
    }
  }

  /// Writes the metric families. Each known label value starts with 0, so that its first event is
  /// an increase.
  package func write(to text: inout MetricsText) {
    text.family("attache_payloads_total", .counter, "Payloads that got their result, by outcome and by reason (empty for none).")
    let usual =
      [OutcomeKey(outcome: .attached), OutcomeKey(outcome: .invalid, reason: .payloadJSON)]
      + Reason.ofPassingLines.map { OutcomeKey(outcome: .passthrough, reason: $0) }
      + Reason.allCases.map { OutcomeKey(outcome: .fallback, reason: $0) }
    for key in usual + Self.sorted(finished.keys.filter { !usual.contains($0) }) {
      text.sample(finished[key] ?? 0, ["outcome": key.outcome.rawValue, "reason": key.reason?.rawValue ?? ""])
    }
    text.family("attache_media_total", .counter, "Media references of the payloads, by the source of their bytes.")
    for cache in MediaRecord.Cache.allCases { text.sample(media[cache] ?? 0, ["cache": cache.rawValue]) }
    text.family("attache_media_received_bytes_total", .counter, "Bytes of media that origins sent.")
    text.sample(bytes)
    text.family("attache_conversions_total", .counter, "Media of the payloads that were attached as a converted picture.")
    text.sample(conversions)
    if let wait = conversionWait {
      text.gauge(
        "attache_conversion_wait_seconds", "How long a picture that comes now is expected to wait at most until its conversion begins.",
        wait() / .seconds(1))
    }
    text.histogram("attache_payload_duration_seconds", "How long a payload took, from its start until its decision.", payloadTime)
    text.histogram("attache_fetch_duration_seconds", "How long a media reference took, with all its attempts.", fetchTime)
  }

  private static func sorted(_ keys: [OutcomeKey]) -> [OutcomeKey] {
    keys.sorted { ($0.outcome.rawValue, $0.reason?.rawValue ?? "") < ($1.outcome.rawValue, $1.reason?.rawValue ?? "") }
  }
}
