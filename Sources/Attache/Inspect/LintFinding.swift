/// One thing in a payload that its sender may not mean.
package struct LintFinding: Hashable, Sendable {
  package var code: FindingCode
  /// Of the payload, counted from 1.
  package var line: Int
  /// Where in the line, as a JSON pointer; the empty one is the whole.
  package var path: String
  /// What is wrong there, one sentence without a full stop, printable.
  package var text: String
  /// Where the rule is said: Apple's page, or the vendor's.
  package var source: String
}
