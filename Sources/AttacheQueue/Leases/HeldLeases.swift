internal import Attache

/// The leases of a worker or a deliverer, and when it asks the queue for more. A suspect is held
/// alone. It makes decisions; its holder carries them out.
struct HeldLeases: Sendable {
  /// What the holder asks the queue for.
  enum Turn {
    /// One suspect, because nothing else is held.
    case suspect
    /// Payloads that are no suspects.
    case others
    /// Nothing until the instant, unless a payload is finished before.
    case wait(until: MonotonicInstant)
  }

  private struct Held: Sendable {
    var bytes: Int
    /// When the lease was taken or renewed, by the queue's clock.
    var since: Duration
    var isFinished = false
  }

  /// How often a queue without claimable payloads is asked again. A queue does not report new
  /// payloads, or holders that have gone.
  static let poll = Duration.milliseconds(250)
  /// The least pause after a claim that got nothing, unless a suspect is next.
  static let leastPause = Duration.milliseconds(10)
  /// How long a suspect waits before no other payloads are claimed until it can be held alone.
  static let suspectTimeLimit = Duration.seconds(5)

  private var leases: [LeaseToken: Held] = [:]
  /// The number of payloads that are not finished.
  private(set) var count = 0
  /// The total length of their lines.
  private(set) var bytes = 0
  /// Whether the only payload is a suspect.
  private(set) var holdsSuspect = false
  private var wantsSuspect = false
  private var suspectsSince: MonotonicInstant?
  private var quietUntil = MonotonicInstant.distantPast

  /// Returns what to ask the queue for.
  func turn(at now: MonotonicInstant) -> Turn {
    if holdsSuspect || wantsSuspect && count > 0 { return .wait(until: .distantFuture) }
    if wantsSuspect { return .suspect }
    return now < quietUntil ? .wait(until: quietUntil) : .others
  }

  /// Records a claim.
  ///
  /// - Parameters:
  ///   - claimed: the leases of the claim, and the lengths of their lines.
  ///   - hasSuspects: whether a suspect is ready.
  ///   - next: when to ask again; nil when nothing will become ready by itself.
  ///   - isAlone: whether the claim was for a suspect.
  ///   - leased: when the claim was made, by the queue's clock.
  mutating func note(
    _ claimed: [(token: LeaseToken, bytes: Int)], hasSuspects: Bool, next: Duration?, isAlone: Bool, at now: MonotonicInstant,
    leased: Duration
  ) {
    for lease in claimed { leases[lease.token] = Held(bytes: lease.bytes, since: leased) }
    count += claimed.count
    bytes += claimed.reduce(0) { $0 + $1.bytes }
    holdsSuspect = isAlone && !claimed.isEmpty
    // A claim for a suspect may get nothing: in order, an earlier result may now precede the suspect.
    suspectsSince = hasSuspects && isAlone == holdsSuspect ? (isAlone ? nil : suspectsSince) ?? now : nil
    // A suspect is next when nothing else is claimable, or when it has waited too long.
    wantsSuspect = suspectsSince.map { claimed.isEmpty || $0.duration(to: now) > Self.suspectTimeLimit } ?? false
    let pause = min(Self.poll, max(next ?? Self.poll, claimed.isEmpty ? Self.leastPause : .zero))
    quietUntil = holdsSuspect || wantsSuspect || pause == .zero ? .distantPast : now.advanced(by: pause)
  }

  /// Records that there may be new payloads to claim.
  mutating func lookAgain() { quietUntil = .distantPast }

  /// Records that the holder is done with a payload. It holds the lease until ``release(_:)``.
  mutating func finish(_ token: LeaseToken) {
    guard let index = leases.index(forKey: token) else { return }
    noteEnd(of: leases.values[index])
    leases.values[index].isFinished = true
  }

  /// Records that the holder goes on with a payload that it was done with.
  mutating func resume(_ token: LeaseToken) {
    guard let index = leases.index(forKey: token), leases.values[index].isFinished else { return }
    leases.values[index].isFinished = false
    count += 1
    bytes += leases.values[index].bytes
  }

  /// Records the end of a lease.
  mutating func release(_ token: LeaseToken) {
    if let held = leases.removeValue(forKey: token) { noteEnd(of: held) }
  }

  private mutating func noteEnd(of held: Held) {
    guard !held.isFinished else { return }
    count -= 1
    bytes -= held.bytes
    if count == 0 { holdsSuspect = false }
  }

  /// Returns all leases, if the oldest was taken or renewed before a time of the queue's clock.
  func renewals(before moment: Duration) -> [LeaseToken] {
    guard let oldest = leases.values.map(\.since).min(), oldest < moment else { return [] }
    return Array(leases.keys)
  }

  /// Records renewed leases. Ignores those that have been released since.
  mutating func renewed(_ tokens: [LeaseToken], at now: Duration) {
    for token in tokens { leases[token]?.since = now }
  }
}
