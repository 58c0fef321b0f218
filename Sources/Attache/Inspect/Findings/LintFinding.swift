/// One thing in a payload that its sender may not mean.
package struct LintFinding: Hashable, Sendable {
  package var code: FindingCode
  /// Of the payload, counted from 1.
  package var line: Int
  /// Where in the line, as a JSON pointer; the empty one names the whole line, be it no JSON or the
  /// payload itself.
  package var path: UntrustedText
  /// What is wrong there, one sentence without a full stop, printable.
  package var text: String
  /// Where the rule is said: Apple's page, or the vendor's.
  package var source: String
}

extension [LintFinding] {
  /// Findings of one code that are told of one payload.
  static let maximumOfCode = 20

  /// The first of each code; where there are more, the next one says how many.
  var bounded: [LintFinding] {
    var counts: [FindingCode: Int] = [:]
    for finding in self { counts[finding.code, default: 0] += 1 }
    var told: [FindingCode: Int] = [:]
    return compactMap { finding in
      let number = told[finding.code, default: 0] + 1
      told[finding.code] = number
      guard number > Self.maximumOfCode else { return finding }
      guard number == Self.maximumOfCode + 1, let count = counts[finding.code] else { return nil }
      var rest = finding
      rest.text = "and \(Inspection.number(count - Self.maximumOfCode)) more"
      return rest
    }
  }
}
