internal import Attache

extension FindingSubject {
  /// The members that provide shown text, directly or through a lookup in the app.
  private static let shownTexts = ["title", "title-loc-key", "subtitle", "subtitle-loc-key", "body", "loc-key"]

  /// Checks for an `aps`. An empty payload (Wallet's passes) and one of a management server (`mdm`)
  /// need none.
  func missingFindings() -> [LintFinding] {
    if let aps { return aps.isObject ? [] : [finding(.apsMissing, at: "/aps", "aps is \(aps.typeName), not a dictionary")] }
    var isEmpty = true
    payload.forEachMember { _, _ in isEmpty = false }
    guard !isEmpty, payload.member("mdm") == nil else { return [] }
    return [finding(.apsMissing, at: "", inspection.shape?.text ?? "the payload has no aps")]
  }

  /// Checks `alert`.
  func alertFindings() -> [LintFinding] {
    guard let alert = aps?.member("alert"), !alert.isNull, !alert.isText else { return [] }
    let path: UntrustedText = "/aps/alert"
    if alert.isString { return [finding(.apsAlert, at: path, "alert is empty, so nothing is shown")] }
    guard alert.isObject else { return [finding(.apsAlert, at: path, "alert is \(alert.typeName), not a string or a dictionary")] }
    // In a Live Activity, the texts are dictionaries with keys to look up.
    let isShown = Self.shownTexts.contains { name in alert.member(name).map { $0.isText || $0.isObject } ?? false }
    return isShown ? [] : [finding(.apsAlert, at: path, "alert has no title, subtitle or body, so nothing is shown")]
  }
}
