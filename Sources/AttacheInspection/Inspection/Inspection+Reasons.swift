internal import Attache

extension Inspection {
  /// Returns why no service extension runs, in one sentence without a full stop; nil if one runs.
  func reasonNotToRun(_ aps: JSONElement?) -> String? {
    if isLiveActivity { return "it is for a Live Activity, for which none runs" }
    switch kind {
    case .invalid: return "the line is not a JSON object"
    case .push(.silent): return "a silent push wakes the app, but never a service extension"
    case .push(.soundOrBadge): return "it plays a sound or badges the icon, but shows no alert"
    case .push(.nothing): return aps == nil ? "it has no aps" : "it shows no alert"
    case .push(.alert): break
    }
    guard matrix.mutableContent else {
      guard let flag = aps?.member("mutable-content"), !flag.isNull else { return "its aps has no mutable-content" }
      return "its mutable-content is \(flag.typeName), not the number 1"
    }
    guard let type = envelope?.pushType, type != "alert" else { return nil }
    return "its push type is \(PrintableText.of(type)), and a service extension runs only for alerts"
  }

  /// Returns the inspection of an input that is not a payload.
  static func invalid(_ input: InputPayload, _ code: FindingCode, why: String) -> Inspection {
    var inspection = Inspection(line: input.line, kind: .invalid, size: input.length)
    inspection.why = why
    inspection.findings = [LintFinding(code: code, line: input.line, path: "", text: why, source: code.source)]
    return inspection
  }

  /// Returns the inspection of an envelope, or of one of its messages, that cannot be opened.
  static func unopened(_ envelope: UnopenedEnvelope, line: Int, size: Int) -> Inspection {
    var inspection = Inspection(line: line, kind: .push(.nothing), size: size)
    inspection.isUnopened = true
    inspection.envelope = Envelope(envelope.form)
    inspection.envelope?.notification = envelope.notification
    inspection.why = envelope.why
    inspection.findings = [
      LintFinding(code: .envelopeUnopened, line: line, path: envelope.path, text: envelope.why, source: envelope.form.source)
    ]
    return inspection
  }
}
