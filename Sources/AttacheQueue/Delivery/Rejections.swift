internal import Attache

/// Judges whether a service rejects single results or all of them, by what others are answered. It
/// makes decisions; ``DelivererState`` carries them out.
///
/// A rejected result is held until an answer to another one tells. When the service accepts the
/// other one, the rejection was the result's own fault. When three different results in a row get
/// the same rejection, the endpoint or the credentials are wrong, and all of them go back to the
/// queue. From then on, one result at a time asks the service whether it accepts any.
struct Rejections: Sendable {
  /// A rejected result.
  struct Rejected: Hashable, Sendable {
    var token: LeaseToken
    /// The service's answer.
    var reason: String
  }

  /// What follows from a rejection.
  enum Verdict: Equatable {
    /// Not known yet; the result is held.
    case held
    /// All results are rejected: these go back to the queue.
    case allRejected([LeaseToken])
  }

  /// The number of different results in a row that must get the same answer.
  static let limit = 3
  /// The maximum number of results that are remembered as asked.
  private static let maximumAsked = 1_000

  /// The results whose rejection is not judged yet.
  private(set) var held: [Rejected] = []
  /// The results that got the latest rejection in a row.
  private var asked: Set<Int64> = []
  private var answer = ""
  /// Whether all results are rejected.
  private(set) var isOfAll = false

  /// Whether a result has already got the answer that all get.
  func hasAsked(_ token: LeaseToken) -> Bool { asked.contains(token.id) }

  /// Handles a rejection.
  mutating func note(_ token: LeaseToken, _ reason: String) -> Verdict {
    let answer = AnswerName.of(reason)
    if answer != self.answer || asked.count >= Self.maximumAsked { asked = [] }
    self.answer = answer
    asked.insert(token.id)
    held.append(Rejected(token: token, reason: reason))
    guard isOfAll || asked.count >= Self.limit else { return .held }
    isOfAll = true
    return .allRejected(takeHeld().map(\.token))
  }

  /// Handles an answer that shows that the service judges single results.
  ///
  /// - Returns: the held results, whose rejection was their own fault.
  mutating func noteJudgement() -> [Rejected] {
    (asked, answer, isOfAll) = ([], "", false)
    return takeHeld()
  }

  /// Returns the held results, and holds them no longer.
  mutating func takeHeld() -> [Rejected] {
    defer { held = [] }
    return held
  }
}
