package import Attache
internal import Synchronization

/// Counters and gauges of a deliverer since its start.
package final class DeliveryMetrics: DelivererObserver, MetricsSource {
  private struct State {
    var ended: [DeliveryStatus: Int] = [:]
    var retried = 0
    var refused = 0
    var unanswered = 0
    var restarts = 0
    var pause: String?
    var blockedSince: MonotonicInstant?
  }

  private let state = Mutex(State())

  package init() {}

  package func ended(_ status: DeliveryStatus, _ count: Int) { state.withLock { $0.ended[status, default: 0] += count } }
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
