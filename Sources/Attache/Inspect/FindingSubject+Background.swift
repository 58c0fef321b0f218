extension FindingSubject {
  private var isBackground: Bool {
    inspection.matrix.contentAvailable && !inspection.matrix.alert
  }

  /// What is wrong with `content-available`.
  func backgroundFindings() -> [LintFinding] {
    if inspection.matrix.contentAvailable, inspection.matrix.alert {
      return [finding(.contentAvailableAlert, at: "/aps/content-available")]
    }
    guard isBackground else { return [] }
    var findings: [LintFinding] = []
    if let sound = aps?.member("sound"), !sound.isNull { findings.append(finding(.silentSound, at: "/aps/sound")) }
    if let badge = aps?.member("badge"), !badge.isNull { findings.append(finding(.silentBadge, at: "/aps/badge")) }
    if inspection.envelope?.priority == 10 { findings.append(finding(.silentPriority, inLine: paths.priority)) }
    return findings
  }
}
