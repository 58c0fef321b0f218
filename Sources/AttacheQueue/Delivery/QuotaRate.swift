internal import Attache

/// The rate that a service's quota seems to allow, by what the service refuses. It is halved while at least a
/// tenth of the answers are refusals, and doubled after each minute without.
///
/// A quota of one recipient, which few answers name, does not slow down the others.
struct QuotaRate: Sendable {
  /// The number of results per second; nil for no limit.
  private(set) var limit: Double?
  /// The rate at the first refusal. A limit that reaches it is lifted.
  private var peak = 0.0
  /// The answers are counted in spans of this length. The limit falls at most once in each.
  private static let span = Duration.seconds(10)
  /// How long a limit lasts before it grows. Google counts messages by the minute.
  ///
  /// Source: https://firebase.google.com/docs/cloud-messaging/scale-fcm
  private static let growth = Duration.seconds(60)
  /// The least number of refusals in a span that count. A device has a quota, too.
  private static let leastRefusals = 5
  /// The lowest limit per second.
  private static let lowest = 1.0

  private var spanStart: MonotonicInstant?
  private var answers = 0
  private var refusals = 0
  /// When the limit last changed, or a refusal last counted.
  private var changedAt = MonotonicInstant.distantPast

  /// Records an answer, also one that is a refusal.
  mutating func noteAnswer(at now: MonotonicInstant) {
    beginSpan(at: now)
    answers += 1
    grow(at: now)
  }

  private mutating func beginSpan(at now: MonotonicInstant) {
    if let spanStart, spanStart.duration(to: now) < Self.span { return }
    (spanStart, answers, refusals) = (now, 0, 0)
  }

  /// Records that the quota is used up, before the answer is recorded.
  ///
  /// - Parameter inFlight: the number of results at the sender.
  /// - Returns: the new limit; nil if it stays.
  mutating func noteRefusal(at now: MonotonicInstant, inFlight: Int) -> Double? {
    beginSpan(at: now)
    refusals += 1
    guard refusals >= Self.leastRefusals, refusals * 10 > answers else { return nil }
    let isNew = limit == nil || changedAt.duration(to: now) >= Self.span
    guard isNew else { return nil }
    let elapsed = spanStart.map { $0.duration(to: now) / .seconds(1) } ?? 0
    let measured = max(Double(answers) / max(1, elapsed), Double(inFlight))
    if limit == nil { peak = measured }
    let new = max(Self.lowest, min(limit ?? .infinity, measured) / 2)
    (limit, changedAt, spanStart) = (new, now, nil)
    return new
  }

  private mutating func grow(at now: MonotonicInstant) {
    guard let limit, changedAt.duration(to: now) >= Self.growth else { return }
    (self.limit, changedAt) = (limit * 2 < peak ? limit * 2 : nil, now)
  }
}
