internal import Attache

extension FindingSubject {
  /// The members of FCM's messages whose names are literal, as a phone or a browser reads them.
  private static let literal: Set<UntrustedText> = ["apns.payload", "apns.headers", "webpush.notification", "webpush.headers"]

  /// Finds members of FCM's message that are written under both of their names.
  func spellingFindings() -> [LintFinding] {
    guard inspection.envelope?.form == .fcm else { return [] }
    let message = paths.root.member("message").flatMap { $0.isObject ? $0 : nil }
    var findings: [LintFinding] = []
    addSpellings(of: message ?? paths.root, at: message == nil ? "" : "/message", in: "", depth: 8, to: &findings)
    return findings
  }

  /// Checks the envelope's push type.
  func pushTypeFindings() -> [LintFinding] {
    guard case .push(let kind) = inspection.kind, let type = inspection.envelope?.pushType.flatMap({ PushType(rawValue: $0.string) }) else {
      return []
    }
    let traits = PushTraits(
      kind, isLiveActivity: inspection.isLiveActivity, isDeviceManagement: aps == nil && payload.member("mdm")?.isText == true)
    guard let conflict = traits.conflict(with: type) else { return [] }
    return [finding(.pushTypeConflict, inLine: paths.pushType, conflict)]
  }

  private func addSpellings(
    of object: JSONElement, at path: UntrustedText, in holder: UntrustedText, depth: Int, to findings: inout [LintFinding]
  ) {
    var names: [UntrustedText: UntrustedText] = [:]
    object.forEachMember { name, value in
      let place = path.appending(name)
      if let other = names.updateValue(name, forKey: name.camelCase), other != name {
        let text = "“\(PrintableText.of(other))” and “\(PrintableText.of(name))” are the same member, and FCM accepts one of them"
        findings.append(finding(.envelopeSpelling, inLine: place, text))
      }
      guard value.isObject, depth > 0, name != "data", !Self.literal.contains("\(holder).\(name)") else { return }
      addSpellings(of: value, at: place, in: name, depth: depth - 1, to: &findings)
    }
  }
}

extension UntrustedText {
  /// The name as proto3 JSON writes it: `fcmOptions` for `fcm_options`.
  fileprivate var camelCase: UntrustedText {
    var bytes: [UInt8] = []
    var isUpper = false
    for byte in utf8 {
      if byte != UInt8(ascii: "_") { bytes.append(isUpper ? byte.uppercasedASCII : byte) }
      isUpper = byte == UInt8(ascii: "_")
    }
    return UntrustedText(decoding: bytes)
  }
}
