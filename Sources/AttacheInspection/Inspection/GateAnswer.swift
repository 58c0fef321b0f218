package import Attache

/// The answer of one gate for one URL.
package struct GateAnswer: Hashable, Sendable {
  /// The gates, in the order in which they are checked.
  package enum Gate: String, Sendable, CaseIterable {
    /// Checks whether the reference is followed at all, independent of its URL.
    case payload
    /// Checks whether the URL may be fetched.
    case url
    /// Checks whether the URL's address may be connected to.
    case address
  }

  package var gate: Gate
  /// Whether the gate allows the URL; nil if that depends on a name lookup.
  package var passes: Bool?
  /// The reason code of a refusal; nil if reports have no code for it.
  package var reason: Reason?
  /// One printable sentence without a full stop.
  package var text: String

  /// The URL gate's text for a URL that it allows without a condition.
  static let plainPass = "the URL may be fetched"

  static func passes(_ gate: Gate, _ text: String) -> GateAnswer {
    GateAnswer(gate: gate, passes: true, text: text)
  }

  static func refuses(_ gate: Gate, _ reason: Reason?, _ text: String) -> GateAnswer {
    GateAnswer(gate: gate, passes: false, reason: reason, text: text)
  }
}
