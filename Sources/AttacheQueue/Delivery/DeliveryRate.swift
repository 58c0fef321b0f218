internal import Attache

/// How many results a deliverer may send at a time, and how many it holds in addition to those at
/// the sender.
struct DeliveryRate {
  /// Results held in addition to those at the sender: the maximum number, and the time that they
  /// cover at the sender's pace.
  static let aheadLimit = 1_024
  static let aheadSpan = DeliveryPace.span

  /// The maximum number of results per second that the user has set; nil for no limit.
  private let given: Double?
  /// What the service's quota allows.
  private var quota = QuotaRate()
  /// The number of results that the maximum currently allows.
  private var allowance = 0.0
  private var allowedAt: MonotonicInstant?
  /// The recent number of answered results per second.
  private var pace = 0.0
  private var pacedAt: MonotonicInstant?
  private var answeredSince = 0

  init(maximum: Double?) {
    given = maximum
  }

  /// The maximum number of results per second; nil for no limit.
  private var maximum: Double? { [given, quota.limit].compactMap(\.self).min() }

  /// The number of results that the maximum allows in ``aheadSpan``.
  var allowedInSpan: Double {
    maximum.map { $0 * (Self.aheadSpan / .seconds(1)) } ?? .infinity
  }

  /// The number of results to hold in addition to those at the sender.
  var ahead: Int {
    let perSecond = min(pace, maximum ?? .infinity)
    return min(Self.aheadLimit, Int(min(1e6, perSecond * (Self.aheadSpan / .seconds(1)))))
  }

  /// Returns the number of results that the maximum allows. After an idle time, at most those of
  /// one ``aheadSpan``, but at least one.
  mutating func allowed(at now: MonotonicInstant) -> Double {
    guard let maximum else { return .infinity }
    let elapsed = allowedAt.map { $0.duration(to: now) / .seconds(1) } ?? 0
    let burst = max(1, allowedInSpan)
    allowance = allowedAt == nil ? 1 : min(burst, allowance + elapsed * maximum)
    allowedAt = now
    return allowance
  }

  /// Returns when the maximum allows the next result; nil for no limit.
  func next(after now: MonotonicInstant) -> MonotonicInstant? {
    maximum.map { now.advanced(by: .seconds(min(3_600, max(0.000_1, (1 - allowance) / $0)))) }
  }

  /// Records that a result is sent.
  mutating func noteSent() {
    allowance -= 1
  }

  /// Records that a result is answered.
  mutating func noteAnswer(at now: MonotonicInstant) {
    answeredSince += 1
    quota.noteAnswer(at: now)
  }

  /// Records that the service's quota is used up (``QuotaRate/noteRefusal(at:inFlight:)``).
  mutating func noteRefusal(at now: MonotonicInstant, inFlight: Int) -> Double? {
    quota.noteRefusal(at: now, inFlight: inFlight)
  }

  mutating func measurePace(at now: MonotonicInstant) {
    guard let since = pacedAt else {
      pacedAt = now
      return
    }
    let span = since.duration(to: now)
    guard span >= Self.aheadSpan else { return }
    pace = Double(answeredSince) / (span / .seconds(1))
    (pacedAt, answeredSince) = (now, 0)
  }
}
