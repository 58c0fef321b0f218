internal import Attache

/// Checks the scenario's expectations beyond the promise.
package struct ExpectationCheck: Sendable {
  private let expectation: ScenarioExpectation

  package init(_ expectation: ScenarioExpectation) {
    self.expectation = expectation
  }

  /// Returns the deviations from the expectation.
  package func findings(_ run: RunAnalysis) -> [Finding] {
    let evidence = run.evidence
    return payloads(run).abridged + traffic(evidence) + resources(evidence) + exit(evidence)
  }

  /// Returns the expectation for a line, from 0; nil when there is none.
  func expected(_ line: Int) -> ScenarioExpectation.OfPayload? {
    if expectation.payloads.count == 1 { return expectation.payloads[0] }
    return expectation.payloads.indices.contains(line) ? expectation.payloads[line] : nil
  }

  // MARK: Payloads

  private func payloads(_ run: RunAnalysis) -> [Finding] {
    let evidence = run.evidence
    if let error = evidence.reportError { return [Finding(.outcome, "expected a readable report; \(error)")] }
    return records(evidence)
      + run.owed.flatMap { account in
        contradiction(account) + attachments(account, evidence) + (expected(account.line - 1).map { compare($0, account) } ?? [])
      }
  }

  /// Checks that the report has at most one record per line and only lines of the input.
  private func records(_ evidence: Evidence) -> [Finding] {
    guard let report = evidence.report else { return [] }
    let counts = Dictionary(grouping: report, by: \.line).mapValues(\.count)
    let unknown = counts.keys.filter { !(1...max(1, evidence.input.count)).contains($0) }.sorted()
    return counts.filter { $0.value > 1 }.sorted { $0.key < $1.key }.map { line, count in
      Finding(.outcome, payload: line, "expected one record in the report, got \(count)")
    } + unknown.map { Finding(.outcome, "the report has a record of line \($0), but the input has no such line") }
  }

  /// Reports a contradiction between the report and the output.
  private func contradiction(_ account: PayloadAccount) -> [Finding] {
    guard account.isReported, (account.outcome == .attached) != !account.attachments.isEmpty else { return [] }
    let came = account.attachments.isEmpty ? "no attachment" : Self.list(account.attachments.map { Self.text($0.type, $0.size) })
    return [Finding(.outcome, payload: account.line, "the report says \(account.verdict), but the output has \(came)")]
  }

  private func compare(_ expected: ScenarioExpectation.OfPayload, _ account: PayloadAccount) -> [Finding] {
    var findings: [Finding] = []
    if let outcome = expected.outcome, !account.may(be: outcome) {
      let wanted = ReportedLine(line: 0, outcome: outcome, reason: expected.reason).verdict
      findings.append(Finding(.outcome, payload: account.line, "expected \(wanted), got \(account.verdict)"))
    } else if account.isReported, account.outcome == nil, expected != .init() {
      findings.append(Finding(.outcome, payload: account.line, "expected one record in the report, got none"))
    } else if account.isReported, expected.reason != account.reason, expected.demandsReason {
      let (wanted, came) = (expected.reason?.rawValue ?? "no reason", account.reason?.rawValue ?? "none")
      findings.append(Finding(.reason, payload: account.line, "expected \(wanted), got \(came)"))
    }
    if let wanted = expected.attachments, let finding = compare(wanted, account) { findings.append(finding) }
    if let wanted = expected.media, let media = account.media, wanted != media.map(\.reason) {
      let (wanted, came) = (Self.list(wanted.map { $0?.rawValue }), Self.list(media.map { $0.reason?.rawValue }))
      findings.append(Finding(.media, payload: account.line, "expected media with \(wanted), got \(came)"))
    }
    return findings
  }

  private func compare(_ wanted: [ScenarioExpectation.OfAttachment], _ account: PayloadAccount) -> Finding? {
    let fits =
      wanted.count == account.attachments.count
      && zip(wanted, account.attachments).allSatisfy { wanted, attachment in
        wanted.type == attachment.type && (wanted.size == nil || wanted.size == attachment.size)
      }
    guard !fits else { return nil }
    let expected = Self.list(wanted.map { Self.text($0.type, $0.size) })
    let came = Self.list(account.attachments.map { Self.text($0.type, $0.size) })
    return Finding(.attachments, payload: account.line, "expected \(expected), got \(came)")
  }

  /// Checks, for every scenario, that each file named in the output exists and has the stated size
  /// and bytes.
  private func attachments(_ account: PayloadAccount, _ evidence: Evidence) -> [Finding] {
    account.attachments.filter { $0.url.hasPrefix("file:") }.compactMap { attachment in
      guard let file = evidence.files[attachment.url] else {
        return Finding(.attachments, payload: account.line, "expected the file \(attachment.url), which does not exist")
      }
      let size = attachment.size ?? 0
      guard file == FoundFile(size: size, sha256: attachment.sha256) else {
        let wanted = "\(size) bytes with the hash \(attachment.sha256)"
        return Finding(
          .attachments, payload: account.line, "\(attachment.url) should have \(wanted); it has \(file.size) with \(file.sha256)")
      }
      return nil
    }
  }

  private static func list(_ texts: [String?]) -> String {
    texts.isEmpty ? "nothing" : "[\(texts.map { $0 ?? "no reason" }.joined(separator: ", "))]"
  }

  private static func text(_ type: String, _ size: Int?) -> String {
    size.map { "\(type) of \($0) bytes" } ?? type
  }

  // MARK: The world around

  private func traffic(_ evidence: Evidence) -> [Finding] {
    var findings = expectation.requests.sorted { $0.key < $1.key }.compactMap { path, wanted in
      let came = evidence.requests[path, default: 0]
      return came == wanted
        ? nil : Finding(.requests, "expected \(Self.count(wanted, "request")) for \(path), got \(came)")
    }
    if let wanted = expectation.connections, wanted != evidence.connections {
      let places = evidence.destinations.isEmpty ? "" : ": \(evidence.destinations.prefix(8).joined(separator: ", "))"
      findings.append(
        Finding(
          .connections, "expected \(Self.count(wanted, "connection")), got \(evidence.connections)\(places)"))
    }
    if let wanted = expectation.names, wanted != evidence.namesAsked.count {
      let asked = evidence.namesAsked.isEmpty ? "none" : evidence.namesAsked.sorted().prefix(8).joined(separator: ", ")
      findings.append(Finding(.names, "expected \(Self.count(wanted, "name")) at the name server, got \(asked)"))
    }
    let unwanted = expectation.fields.map { evidence.fields.subtracting($0).sorted() } ?? []
    if !unwanted.isEmpty {
      findings.append(
        Finding(.requests, "expected only the fields \(Self.list(expectation.fields ?? [])), also got \(Self.list(unwanted))"))
    }
    return findings
  }

  private func resources(_ evidence: Evidence) -> [Finding] {
    [
      Self.bound(.memory, expectation.memory, evidence.memory, "bytes of memory"),
      Self.bound(.descriptors, expectation.descriptors, evidence.descriptors, "descriptors"),
    ].compactMap { $0 }
  }

  private static func bound(_ kind: Finding.Kind, _ maximum: Int?, _ came: Int?, _ unit: String) -> Finding? {
    guard let maximum else { return nil }
    guard let came else { return Finding(kind, "expected at most \(maximum) \(unit), which could not be measured") }
    return came <= maximum ? nil : Finding(kind, "expected at most \(maximum) \(unit), got \(came)")
  }

  private func exit(_ evidence: Evidence) -> [Finding] {
    guard !evidence.hung, evidence.exitStatus != expectation.exitStatus else { return [] }
    let came = evidence.exitStatus.map { "\($0)" } ?? "none"
    return [Finding(.exitStatus, "expected the exit status \(expectation.exitStatus), got \(came)")]
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

extension PayloadAccount {
  /// Returns whether an outcome matches. Without a report, any outcome that attaches nothing
  /// matches a line without attachments.
  fileprivate func may(be expected: Outcome) -> Bool {
    isReported || outcome != nil ? outcome == expected : expected != .attached
  }
}

extension ScenarioExpectation.OfPayload {
  /// Whether the reason is checked. Who expects a line to pass need not say why.
  fileprivate var demandsReason: Bool { reason != nil || outcome != nil && outcome != .passthrough }
}
