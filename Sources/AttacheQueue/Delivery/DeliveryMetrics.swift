package import Attache
package import AttacheMetrics
internal import Synchronization

/// Counters and gauges of a deliverer since its start.
package final class DeliveryMetrics: DelivererObserver, MetricsSource {
  private struct State {
    var ended: [DeliveryStatus: Int] = [:]
    /// From a local sender to the usual time limit of 60 s.
    var answerTime = Histogram([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
    /// The number of answers by their names; nil until the deliverer runs.
    var answers: (@Sendable () -> [String: Int])?
    var retried = 0
    var refused = 0
    var unanswered = 0
    var restarts = 0
    var pause: String?
    var blockedSince: MonotonicInstant?
  }

  private let state = Mutex(State())

  package init() {}

  /// Sets the function that returns the number of answers by their names (``Deliverer/answers``).
  package func use(answers: @escaping @Sendable () -> [String: Int]) { state.withLock { $0.answers = answers } }

  package func ended(_ status: DeliveryStatus, _ count: Int) { state.withLock { $0.ended[status, default: 0] += count } }
  package func answered(after elapsed: Duration) { state.withLock { $0.answerTime.observe(elapsed / .seconds(1)) } }
  package func retried(_ count: Int) { state.withLock { $0.retried += count } }
  package func refused(_ count: Int) { state.withLock { $0.refused += count } }
  package func unanswered(_ count: Int) { state.withLock { $0.unanswered = count } }
  package func restarted() { state.withLock { $0.restarts += 1 } }
  package func paused(_ why: String?) { state.withLock { $0.pause = why } }
  package func blocked(since: MonotonicInstant?) { state.withLock { $0.blockedSince = since } }

  /// Why the deliverer sends nothing; nil when it sends.
  package var pause: String? { state.withLock(\.pause) }

  /// Writes the metric families. Each known label value starts with 0, so that its first event is
  /// an increase.
  package func write(to text: inout MetricsText) {
    let state = state.withLock { $0 }
    text.family("attache_deliveries_total", .counter, "Results whose delivery has ended, by how it ended.")
    for status in DeliveryStatus.allCases { text.sample(state.ended[status] ?? 0, ["status": status.rawValue]) }
    text.family(
      "attache_delivery_answers_total", .counter,
      "Answers of the sender by their text, without details; those beyond \(AnswerLedger.maximumNames) different ones count together.")
    let answers = [AnswerLedger.otherName: 0].merging(state.answers?() ?? [:]) { $1 }
    for (answer, count) in answers.sorted(by: { $0.key < $1.key }) { text.sample(count, ["answer": answer]) }
    text.histogram(
      "attache_delivery_duration_seconds", "How long the sender took to answer a result, from the moment it got it.", state.answerTime)
    text.family("attache_delivery_retries_total", .counter, "Failed attempts of a delivery that will be retried.")
    text.sample(state.retried)
    text.family("attache_deliveries_refused_total", .counter, "Answers that came after another deliverer had taken over the result.")
    text.sample(state.refused)
    text.gauge("attache_deliveries_unanswered", "Results that the sender has but has not answered.", Double(state.unanswered))
    text.family("attache_sender_restarts_total", .counter, "Senders that were started after another one ended.")
    text.sample(state.restarts)
    text.gauge(
      "attache_deliverer_paused", "Whether the deliverer waits for a repair, such as of a wrong key or a full disk.",
      state.pause == nil ? 0 : 1)
    text.gauge(
      "attache_delivery_blocked_seconds",
      "With --ordered: how long the first payload has kept the others waiting, since it is undecided or waits for a retry; 0 when it does not.",
      state.blockedSince.map { $0.duration(to: .now) / .seconds(1) } ?? 0)
  }
}
