internal import Attache

/// Judges whether a service rejects single results or all of them, by what others are answered. It
/// makes decisions; ``DelivererState`` carries them out.
///
/// A rejected result is held. When the service accepts another one that was sent later, the rejection
/// was the result's own fault. When three results are held, the service may reject all: from then on,
/// other results ask whether it accepts any, one in the first pause and four times as many in each later
/// one. When it does, the held results are sent
/// again, and each that is rejected as before is at fault. When the queue has no other result, a held
/// one is sent again after a pause that grows.
struct Rejections: Sendable {
  /// A rejected result.
  struct Rejected: Sendable {
    var delivery: Delivery
    /// The service's answer.
    var reason: String
    /// Its number among all rejections.
    fileprivate var number: Int
  }

  /// What follows from a rejection.
  enum Verdict {
    /// Nothing yet: the result is held.
    case held
    /// The result is held, and the deliverer pauses.
    case pause
    /// The result is dropped.
    case atFault
  }

  /// The number of results that must be rejected in a row.
  static let limit = 3
  /// The maximum number of results that are held, and of those that are remembered.
  static let maximumHeld = 1_024
  /// How long an accepted result makes it likely that the service accepts others.
  private static let recently = Duration.seconds(10)

  private let isOnce: Bool
  /// The results whose rejection is not judged yet, from the one that was sent first.
  private(set) var held: [Rejected] = []
  /// The answers to results that were rejected before another one was accepted, by number.
  private var doubted: [Int64: [UInt8]] = [:]
  /// The number of rejections so far.
  private(set) var count = 0
  /// Whether the service may reject all results.
  private(set) var isOfAll = false
  private var acceptedAt: MonotonicInstant?
  /// The maximum number of results at the sender while ``isOfAll``.
  private(set) var probes = 1
  /// The names of answers that were a result's own fault.
  private var ownFaults: Set<[UInt8]> = []

  /// Whether the queue had no other result when it was last asked.
  private var foundNothing = false
  private var isAtEnd = false
  /// When to send a held result again, while fewer are held than pause the deliverer.
  private var repeatAt: MonotonicInstant?
  private var growing = GrowingPause(first: .seconds(1), longest: DelivererConfiguration.longestPause)
  /// The held result that was sent again.
  private var repeated: Int64?
  /// How often results that were sent again were rejected again.
  private var vainRepeats = 0

  /// - Parameter isOnce: whether the run ends with the queue (``DelivererConfiguration/isOnce``).
  init(isOnce: Bool) {
    self.isOnce = isOnce
  }

  // MARK: Answers

  /// Handles a rejection.
  mutating func note(_ delivery: Delivery, _ reason: String, at now: MonotonicInstant) -> Verdict {
    let (number, wasOfAll) = (delivery.token.id, isOfAll)
    count += 1
    let name = Array(AnswerName.of(reason).utf8)
    if !isOfAll, doubted[number] == name {
      noteOwnFault(name)
      return .atFault
    }
    // At the end of a run, no other result can excuse it.
    if isOnce, isAtEnd, repeated == number, ownFaults.contains(name) {
      repeated = nil
      return .atFault
    }
    held.append(Rejected(delivery: delivery, reason: reason, number: count))
    if repeated == number { vainRepeats += 1 }
    (repeated, foundNothing, repeatAt) = (nil, false, nil)
    if !isOfAll, held.count >= Self.limit { (isOfAll, doubted, probes) = (true, [:], 1) }
    // One that was accepted just before makes it likely that the three are at fault: one more result is
    // sent before the pause.
    let seemsToAccept = !wasOfAll && acceptedAt.map { $0.duration(to: now) < Self.recently } ?? false
    return isOfAll && !seemsToAccept ? .pause : .held
  }

  private mutating func endDoubt() {
    (vainRepeats, isOfAll, probes) = (0, false, 1)
    growing.reset()
  }

  private mutating func noteOwnFault(_ name: [UInt8]) {
    if ownFaults.count < AnswerLedger.maximumNames { ownFaults.insert(name) }
  }

  /// Records that a pause begins after probes that were rejected.
  mutating func noteVainProbes() { probes = min(4 * probes, Self.maximumHeld) }

  /// Handles an answer that is no rejection.
  mutating func noteOther(_ token: LeaseToken) {
    doubted[token.id] = nil
    if repeated == token.id { repeated = nil }
  }

  /// Handles an accepted result.
  ///
  /// - Parameter sent: ``count`` when it was sent. An acceptance tells nothing about later rejections.
  /// - Returns: the results whose rejection was their own fault, and those to send again.
  mutating func noteAcceptance(sent: Int, at now: MonotonicInstant) -> (atFault: [Rejected], again: [Delivery]) {
    acceptedAt = now
    let judged = held.filter { $0.number <= sent }
    guard !judged.isEmpty else {
      if held.isEmpty { endDoubt() }
      return ([], [])
    }
    let wasOfAll = isOfAll
    held.removeAll { $0.number <= sent }
    endDoubt()
    isOfAll = held.count >= Self.limit
    guard wasOfAll else {
      for rejected in judged { noteOwnFault(Array(AnswerName.of(rejected.reason).utf8)) }
      return (judged, [])
    }
    if doubted.count >= Self.maximumHeld { doubted = [:] }
    for rejected in judged { doubted[rejected.delivery.token.id] = Array(AnswerName.of(rejected.reason).utf8) }
    return ([], judged.map(\.delivery))
  }

  // MARK: The queue

  /// Records that the queue has given other results.
  mutating func noteOthers() { (foundNothing, isAtEnd) = (false, false) }

  /// Records that the queue has no other result.
  ///
  /// - Parameter isAtEnd: whether the queue will have none, unless somebody enqueues more.
  /// - Returns: the held results that are dropped, and the one that begins to wait.
  mutating func noteNothingElse(at now: MonotonicInstant, isAtEnd: Bool) -> (atFault: [Rejected], waits: Rejected?) {
    (foundNothing, self.isAtEnd) = (true, isAtEnd)
    guard !held.isEmpty, !isOfAll, repeatAt == nil else { return ([], nil) }
    // In a run that ends, an earlier acceptance and a second rejection must do.
    if isOnce, acceptedAt != nil, vainRepeats > 0 { return (takeHeld(), nil) }
    repeatAt = now.advanced(by: growing.next())
    return ([], held.first)
  }

  /// When the next held result is sent again (``takeRepeat(at:)``), if that is a matter of time.
  var nextRepeat: MonotonicInstant? { repeatAt }

  /// Returns the held result to send again now, because no other can be sent; nil if none is due.
  mutating func takeRepeat(at now: MonotonicInstant) -> Delivery? {
    guard foundNothing, !held.isEmpty, isOfAll || repeatAt.map({ $0 <= now }) ?? false else { return nil }
    repeatAt = nil
    let first = held.removeFirst().delivery
    repeated = first.token.id
    return first
  }

  /// How many undelivered results the queue may have when a run ends that leaves only such as are
  /// rejected again and again; nil if it does not end. Others' results are waited for, but not for ever.
  var leftovers: Int? {
    guard isOnce, foundNothing, vainRepeats >= Self.limit else { return nil }
    return vainRepeats < 3 * Self.limit ? held.count : .max
  }

  /// Returns all held results, and holds them no longer.
  mutating func takeHeld() -> [Rejected] {
    defer { held = [] }
    return held
  }

  /// Returns the result that was sent first, and holds it no longer, if too many are held.
  ///
  /// - Parameter bytes: the maximum total length of their lines. One is held whatever its length.
  mutating func takeSurplus(beyond bytes: Int) -> LeaseToken? {
    guard held.count > Self.maximumHeld || held.count > 1 && held.reduce(0, { $0 + $1.delivery.line.count }) > bytes else { return nil }
    return held.removeFirst().delivery.token
  }
}
