package import Attache

/// How many results a queue gains a second, from counts that were taken one after another.
package struct ResultRate: Sendable {
  private struct Sample {
    var instant: MonotonicInstant
    var decided: Int
  }

  /// What lies further back does not count.
  private static let window = Duration.seconds(10)
  private var samples: [Sample] = []

  package init() {}

  /// Takes counts, and gives the rate; of the first counts, that of the last minute.
  package mutating func add(_ counts: QueueCounts, at instant: MonotonicInstant) -> Double {
    let decided = counts.done + counts.dead
    // Payloads were removed, or are worked again: the counts before say nothing of the rate.
    if let last = samples.last, decided < last.decided { samples = [] }
    samples.append(Sample(instant: instant, decided: decided))
    // One sample is kept from before the window, so that it is covered whole.
    while samples.count > 2, samples[1].instant.duration(to: instant) >= Self.window { samples.removeFirst() }
    guard let first = samples.first, first.instant < instant else { return Double(counts.finishedLastMinute) / 60 }
    return Double(decided - first.decided) / (first.instant.duration(to: instant) / .seconds(1))
  }
}
