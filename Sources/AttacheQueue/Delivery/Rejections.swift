internal import Attache

/// Judges whether a service rejects single results or all of them, by what others are answered. It
/// makes decisions; ``DelivererState`` carries them out.
///
/// A rejected result is held. When the service accepts another one that was sent later, the rejection
/// was the result's own fault. When three results are held, the service may reject all: from then on, one other result
/// at a time asks whether it accepts any. When it does, the held results are sent again, and each
/// that is rejected as before is at fault.
struct Rejections: Sendable {
  /// A rejected result.
  struct Rejected: Sendable {
    var delivery: Delivery
    /// The service's answer.
    var reason: String
    /// Its number among all rejections.
    var number = 0
  }

  /// The number of results that must be rejected in a row.
  static let limit = 3
  /// The maximum number of results that are held, and of those that are remembered.
  static let maximumHeld = 1_024

  /// The results whose rejection is not judged yet, from the one that was asked about first.
  private(set) var held: [Rejected] = []
  /// The answers to results that were rejected before another one was accepted, by number.
  private var doubted: [Int64: String] = [:]
  /// How often held results were rejected once more.
  private(set) var vainQuestions = 0
  /// The result that was asked about once more.
  private var askedAgain: Int64?
  /// The number of rejections so far.
  private(set) var count = 0

  /// Whether the service may reject all results.
  private(set) var isOfAll = false

  /// Handles a rejection.
  ///
  /// - Returns: whether it is the result's own fault; if not, the result is held.
  mutating func note(_ delivery: Delivery, _ reason: String) -> Bool {
    count += 1
    if !isOfAll, doubted[delivery.token.id] == AnswerName.of(reason) { return true }
    held.append(Rejected(delivery: delivery, reason: reason, number: count))
    if askedAgain == delivery.token.id { vainQuestions += 1 }
    askedAgain = nil
    if !isOfAll, held.count >= Self.limit { (isOfAll, doubted) = (true, [:]) }
    return false
  }

  /// Handles any other answer to a result.
  mutating func noteOther(_ token: LeaseToken) {
    doubted[token.id] = nil
    if askedAgain == token.id { askedAgain = nil }
  }

  /// Handles an accepted result.
  ///
  /// - Parameter sent: ``count`` when it was sent. An acceptance tells nothing about later rejections.
  /// - Returns: the results whose rejection was their own fault, and those to send again.
  mutating func noteAcceptance(sent: Int) -> (atFault: [Rejected], again: [Delivery]) {
    let judged = held.filter { $0.number <= sent }
    guard !judged.isEmpty else { return ([], []) }
    let wasOfAll = isOfAll
    held.removeAll { $0.number <= sent }
    (vainQuestions, isOfAll) = (0, held.count >= Self.limit)
    guard wasOfAll else { return (judged, []) }
    if doubted.count >= Self.maximumHeld { doubted = [:] }
    for rejected in judged { doubted[rejected.delivery.token.id] = AnswerName.of(rejected.reason) }
    return ([], judged.map(\.delivery))
  }

  /// Returns all held results, and holds them no longer.
  mutating func takeHeld() -> [Rejected] {
    defer { held = [] }
    return held
  }

  /// Returns the result that was asked about first, and holds it no longer, if too many are held.
  ///
  /// - Parameter bytes: the maximum total length of their lines. One is held whatever its length.
  mutating func takeSurplus(beyond bytes: Int) -> LeaseToken? {
    guard held.count > Self.maximumHeld || held.count > 1 && held.reduce(0, { $0 + $1.delivery.line.count }) > bytes else { return nil }
    return held.removeFirst().delivery.token
  }

  /// Returns the result that was asked about first, to ask again, and holds it no longer.
  mutating func takeFirst() -> Delivery? {
    guard !held.isEmpty else { return nil }
    let first = held.removeFirst().delivery
    askedAgain = first.token.id
    return first
  }
}
