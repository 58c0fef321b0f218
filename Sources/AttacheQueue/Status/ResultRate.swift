package import Attache

/// The number of results per second that a queue gains, calculated from successive counts.
package struct ResultRate: Sendable {
  private struct Sample {
    var instant: MonotonicInstant
    var decided: Int
  }

  private var samples: [Sample] = []

  package init() {}

  /// Adds counts and returns the rate. For the first counts, the rate is
  /// ``QueueCounts/recentRate``.
  package mutating func add(_ counts: QueueCounts, at instant: MonotonicInstant) -> Double {
    let decided = counts.decided
    // Payloads were removed or requeued. Earlier counts no longer describe the rate.
    if let last = samples.last, decided < last.decided { samples = [] }
    samples.append(Sample(instant: instant, decided: decided))
    // One sample from before the window is kept, so that the samples cover the whole window.
    while samples.count > 2, samples[1].instant.duration(to: instant) >= QueueCounts.recentSpan { samples.removeFirst() }
    guard let first = samples.first, first.instant < instant else { return counts.recentRate }
    return Double(decided - first.decided) / (first.instant.duration(to: instant) / .seconds(1))
  }
}
