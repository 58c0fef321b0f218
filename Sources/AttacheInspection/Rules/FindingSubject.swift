internal import Attache

/// The input of the lint rules for one payload: its inspection, and the parsed document while it is
/// valid.
struct FindingSubject {
  let inspection: Inspection
  let payload: JSONElement
  let aps: JSONElement?
  let paths: LinePaths
  /// Checks URLs with gates that allow plain http, which has its own findings.
  let report: GateReport
  /// Whether pictures are converted.
  let converts: Bool
  /// The categories of the app; none if they are not known.
  let categories: NotificationCategories
  /// The address of the page of a dialect's vendor.
  let sources: (String) -> String?

  /// Returns a finding at a place of the payload. Without `text`, it uses the rule's sentence.
  func finding(_ code: FindingCode, at path: UntrustedText, _ text: String? = nil, source: String? = nil) -> LintFinding {
    finding(code, inLine: paths.path(of: path), text, source: source)
  }

  /// Returns a finding at a place of the line, outside the payload.
  func finding(_ code: FindingCode, inLine path: UntrustedText, _ text: String? = nil, source: String? = nil) -> LintFinding {
    LintFinding(code: code, line: inspection.line, path: path, text: text ?? code.clause, source: source ?? code.source)
  }

  /// Returns a finding about a media reference.
  func finding(_ code: FindingCode, of reference: MediaReference, _ text: String? = nil, source: String? = nil) -> LintFinding {
    let path = reference.path ?? ""
    return finding(code, inLine: reference.isForOthers ? path : paths.path(of: path), text, source: source)
  }

  /// The address of the vendor's page, if a dialect applies.
  var vendorSource: String? { inspection.dialect.flatMap(sources) }

  /// Returns all findings, in the order of the rules.
  func findings() -> [LintFinding] {
    sizeFindings() + spellingFindings() + pushTypeFindings() + missingFindings() + mutableFindings() + backgroundFindings() + apsFindings()
      + mediaFindings()
      + actionFindings()
  }

  private func sizeFindings() -> [LintFinding] {
    guard inspection.size > inspection.maximumSize else { return [] }
    return [finding(.payloadSize, at: "", "the payload has \(Inspection.number(inspection.size)) bytes, more than \(inspection.limit)")]
  }

  private func actionFindings() -> [LintFinding] {
    guard let text = inspection.text else { return [] }
    let (count, place) = (text.actions.count, text.actionsPath ?? "")
    if count > 10 { return [finding(.actionsMany, at: place, "there are \(count) actions, and at most ten are shown")] }
    if count > 4 {
      return [finding(.actionsLimited, at: place, "there are \(count) actions; an iPhone's long look shows four, a banner two")]
    }
    return []
  }
}
