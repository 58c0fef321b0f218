/// What one gate says to one URL.
package struct GateAnswer: Hashable, Sendable {
  /// The gates in the order in which they are asked.
  package enum FirstWins: String, Sendable, CaseIterable {
    /// Whether the reference is followed at all, whatever its URL.
    case payload
    /// Whether the URL may be fetched.
    case url
    /// Whether its address may be reached.
    case address
  }

  package var gate: FirstWins
  /// Nil when it can only be asked once the name is looked up.
  package var passes: Bool?
  /// The code of a refusal; nil for one that no report would name.
  package var reason: Reason?
  /// One sentence without a full stop, printable.
  package var text: String

  /// What the URL gate says to a URL that it passes without a condition.
  static let plainPass = "the URL may be fetched"

  static func passes(_ gate: FirstWins, _ text: String) -> GateAnswer {
    GateAnswer(gate: gate, passes: true, text: text)
  }

  static func refuses(_ gate: FirstWins, _ reason: Reason?, _ text: String) -> GateAnswer {
    GateAnswer(gate: gate, passes: false, reason: reason, text: text)
  }
}
