package import Attache

/// A probable mistake in a payload.
package struct LintFinding: Hashable, Sendable {
  package var code: FindingCode
  /// The line of the payload, counted from 1.
  package var line: Int
  /// The JSON pointer of the place in the line. It is empty for the whole line, which may be
  /// invalid JSON or the payload itself.
  package var path: UntrustedText
  /// What is wrong there: one printable sentence without a full stop.
  package var text: String
  /// The address of the rule's documentation: Apple's page, or the vendor's.
  package var source: String
}

extension [LintFinding] {
  /// The maximum number of findings of one code to report for a payload.
  static let maximumOfCode = 20

  /// The first findings of each code. If there are more, one further finding states how many.
  var bounded: [LintFinding] {
    var counts: [FindingCode: Int] = [:]
    for finding in self { counts[finding.code, default: 0] += 1 }
    var shown: [FindingCode: Int] = [:]
    return compactMap { finding in
      let number = shown[finding.code, default: 0] + 1
      shown[finding.code] = number
      guard number > Self.maximumOfCode else { return finding }
      guard number == Self.maximumOfCode + 1, let count = counts[finding.code] else { return nil }
      var rest = finding
      rest.text = "and \(Inspection.number(count - Self.maximumOfCode)) more"
      return rest
    }
  }
}
