internal import Attache

extension FindingSubject {
  /// Checks `mutable-content`.
  func mutableFindings() -> [LintFinding] {
    guard let flag = aps?.member("mutable-content"), !flag.isNull else { return missing() }
    let path: UntrustedText = "/aps/mutable-content"
    if flag.number == 1 || flag.boolean == true {
      let findings = flag.boolean == true ? [finding(.mutableBoolean, at: path)] : []
      // OneSignal's server asks for the service extension in every push.
      return inspection.matrix.alert || !paths.isWritten(path) ? findings : findings + [finding(.mutableAlert, at: path)]
    }
    let written = flag.text.map { "the string “\(PrintableText.of($0))”" } ?? flag.typeName
    return [finding(.mutableValue, at: path, "mutable-content is \(written), not the number 1: no service extension runs")]
  }

  private func missing() -> [LintFinding] {
    // Where the payload is an object of the line, aps.missing says so.
    if case .nested? = inspection.shape { return [] }
    if let place = place(in: payload, depth: 4) { return [finding(.mutableOutside, at: place)] }
    if inspection.envelope?.form == .fcm, let place = paths.writtenPath(anyOf: "/aps/mutable-content") {
      let text = "mutable-content is outside aps, where it has no effect: write it into aps of apns.payload"
      return [finding(.mutableOutside, inLine: place, text)]
    }
    guard inspection.matrix.alert, !inspection.isLiveActivity,
      let medium = inspection.media.first(where: { !$0.reference.isLazy && !$0.reference.isForOthers })
    else {
      return []
    }
    return [finding(.mutableMissing, of: medium.reference)]
  }

  /// Returns the JSON pointer of `mutable-content` within an object, if it contains one.
  private func place(in object: JSONElement, depth: Int) -> UntrustedText? {
    var found: UntrustedText?
    object.forEachMember { name, value in
      guard found == nil else { return }
      if name == "mutable-content" {
        found = JSONPointer.part(name)
      } else if value.isObject, depth > 0 {
        found = place(in: value, depth: depth - 1).map { JSONPointer.part(name).followed(by: $0) }
      }
    }
    return found
  }
}
