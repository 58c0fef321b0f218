internal import AttacheQueue

/// Judges registration tokens that belong to another project: tokens of another app, or all because the key
/// is another project's.
struct SenderMismatches {
  /// What follows for a message.
  enum Verdict: Equatable {
    /// The answer may be about all messages.
    case rejected
    /// It is the token's own fault.
    case atFault
    /// The token is judged already, by another message.
    case wait
  }

  /// This many different tokens in a row probably mean the wrong project.
  private static let limit = 3

  private struct Doubted {
    var message: Int64
    var token: String
  }

  /// The tokens in a row.
  private var doubted: [Doubted] = []
  /// Whether too many tokens in a row were another project's, and no message was accepted since.
  private var isOfAll = false
  private var hasAccepted = false

  /// Handles a mismatch.
  mutating func note(_ message: Int64, _ token: String) -> Verdict {
    guard !isOfAll else { return .rejected }
    if let same = doubted.first(where: { $0.token.utf8.elementsEqual(token.utf8) }) {
      guard same.message == message else { return .wait }
      return hasAccepted ? .atFault : .rejected
    }
    doubted.append(Doubted(message: message, token: token))
    if doubted.count >= Self.limit { (isOfAll, doubted) = (true, []) }
    return .rejected
  }

  /// Handles an accepted message.
  ///
  /// - Returns: the tokens that are at fault.
  mutating func noteAcceptance() -> [String] {
    defer { (isOfAll, hasAccepted, doubted) = (false, true, []) }
    return doubted.map(\.token)
  }
}
