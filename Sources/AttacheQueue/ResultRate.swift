package import Attache

/// How many results a queue gains a second, from counts that were taken one after another.
package struct ResultRate: Sendable {
  private struct Sample {
    var instant: MonotonicInstant
    var decided: Int
  }

  private var samples: [Sample] = []

  package init() {}

  /// Takes counts, and gives the rate; of the first counts, their own (``QueueCounts/recentRate``).
  package mutating func add(_ counts: QueueCounts, at instant: MonotonicInstant) -> Double {
    let decided = counts.done + counts.dead
    // Payloads were removed, or are worked again: the counts before say nothing of the rate.
    if let last = samples.last, decided < last.decided { samples = [] }
    samples.append(Sample(instant: instant, decided: decided))
    // One sample is kept from before the window, so that it is covered whole.
    while samples.count > 2, samples[1].instant.duration(to: instant) >= QueueCounts.recentSpan { samples.removeFirst() }
    guard let first = samples.first, first.instant < instant else { return counts.recentRate }
    return Double(decided - first.decided) / (first.instant.duration(to: instant) / .seconds(1))
  }
}
