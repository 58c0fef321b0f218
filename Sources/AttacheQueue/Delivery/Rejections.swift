internal import Attache

/// Judges whether a service rejects single results or all of them, by what others are answered. It
/// makes decisions; ``DelivererState`` carries them out.
///
/// A rejected result is held. When the service accepts another one, the rejection was the result's
/// own fault. When three results are held, the service may reject all: from then on, one other result
/// at a time asks whether it accepts any. When it does, the held results are sent again, and each
/// that is rejected as before is at fault.
struct Rejections: Sendable {
  /// A rejected result.
  struct Rejected: Sendable {
    var delivery: Delivery
    /// The service's answer.
    var reason: String
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
  private var asksAgain = false

  /// Whether the service may reject all results.
  private(set) var isOfAll = false

  /// Handles a rejection.
  ///
  /// - Returns: whether it is the result's own fault; if not, the result is held.
  mutating func note(_ delivery: Delivery, _ reason: String) -> Bool {
    if !isOfAll, doubted[delivery.token.id] == AnswerName.of(reason) { return true }
    held.append(Rejected(delivery: delivery, reason: reason))
    if asksAgain { vainQuestions += 1 }
    asksAgain = false
    isOfAll = isOfAll || held.count >= Self.limit
    return false
  }

  /// Handles an accepted result.
  ///
  /// - Returns: the results whose rejection was their own fault, and those to send again.
  mutating func noteAcceptance() -> (atFault: [Rejected], again: [Delivery]) {
    let (held, wasOfAll) = (takeHeld(), isOfAll)
    (vainQuestions, asksAgain, isOfAll) = (0, false, false)
    guard wasOfAll else { return (held, []) }
    if doubted.count >= Self.maximumHeld { doubted = [:] }
    for rejected in held { doubted[rejected.delivery.token.id] = AnswerName.of(rejected.reason) }
    return ([], held.map(\.delivery))
  }

  /// Returns all held results, and holds them no longer.
  mutating func takeHeld() -> [Rejected] {
    defer { held = [] }
    return held
  }

  /// Returns the result that was asked about first, to ask again, and holds it no longer.
  mutating func takeFirst() -> Delivery? {
    guard !held.isEmpty else { return nil }
    asksAgain = true
    return held.removeFirst().delivery
  }
}
