internal import Attache

/// Judges registration tokens that belong to another project: tokens of another app, or all because the key
/// is another project's.
struct SenderMismatches {
  /// What follows for a message.
  enum Verdict: Equatable {
    /// Not known yet: the message is tried again.
    case doubted
    /// The answer may be about all messages.
    case ofAll
    /// It is the token's own fault.
    case atFault
  }

  /// This many different tokens in a row probably mean the wrong project.
  private static let limit = 3
  /// The maximum number of ``judged`` tokens.
  private static let maximumJudged = 10_000

  private struct Doubted {
    var message: Int64
    var token: UntrustedText
  }

  /// The tokens in a row.
  private var doubted: [Doubted] = []
  /// The tokens that are at fault: the message of another device was accepted after theirs was not.
  private var judged: Set<UntrustedText> = []
  /// Whether too many tokens in a row were another project's, and no message to a device was accepted
  /// since.
  private var isOfAll = false
  private var hasAccepted = false

  /// Handles a mismatch.
  mutating func note(_ message: Int64, _ token: String) -> Verdict {
    let token = UntrustedText(token)
    if judged.contains(token) { return .atFault }
    guard !isOfAll else { return .ofAll }
    if let same = doubted.first(where: { $0.token == token }) {
      return hasAccepted && same.message == message ? .atFault : .doubted
    }
    doubted.append(Doubted(message: message, token: token))
    guard doubted.count >= Self.limit else { return .doubted }
    (isOfAll, doubted) = (true, [])
    return .ofAll
  }

  /// Handles an accepted message to a device. One to a topic tells nothing: every project may send to its
  /// own.
  mutating func noteAcceptance() {
    if judged.count >= Self.maximumJudged { judged = [] }
    judged.formUnion(doubted.map(\.token))
    (isOfAll, hasAccepted, doubted) = (false, true, [])
  }
}
