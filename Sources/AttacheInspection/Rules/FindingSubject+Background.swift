internal import Attache

extension FindingSubject {
  private var isBackground: Bool {
    inspection.matrix.contentAvailable && !inspection.matrix.alert
  }

  /// Checks `content-available`.
  func backgroundFindings() -> [LintFinding] {
    var findings = flagFindings()
    if inspection.matrix.contentAvailable, inspection.matrix.alert {
      return findings + [finding(.contentAvailableAlert, at: "/aps/content-available")]
    }
    guard isBackground else { return findings }
    if let sound = aps?.member("sound"), !sound.isNull { findings.append(finding(.silentSound, at: "/aps/sound")) }
    if let badge = aps?.member("badge"), !badge.isNull { findings.append(finding(.silentBadge, at: "/aps/badge")) }
    if inspection.envelope?.priority == 10 { findings.append(finding(.silentPriority, inLine: paths.priority)) }
    return findings
  }

  /// Checks the flag itself. 0 and `false` are valid: they mean that the app is not to be woken.
  private func flagFindings() -> [LintFinding] {
    guard let flag = aps?.member("content-available"), !flag.isNull, flag.number != 1, flag.number != 0, flag.boolean != false else {
      return []
    }
    let path: UntrustedText = "/aps/content-available"
    if flag.boolean == true { return [finding(.contentAvailableBoolean, at: path)] }
    let written = flag.text.map { "the string “\(PrintableText.of($0))”" } ?? flag.typeName
    return [finding(.contentAvailableValue, at: path, "content-available is \(written), not the number 1: the app is not woken")]
  }
}
