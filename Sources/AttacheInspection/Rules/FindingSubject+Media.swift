internal import Attache

extension FindingSubject {
  func mediaFindings() -> [LintFinding] {
    let references = inspection.media.map(\.reference).filter { $0.misfit == nil }
    return manyFindings() + unreadFindings() + formFindings() + references.flatMap(findings)
  }

  private func findings(of reference: MediaReference) -> [LintFinding] {
    let findings = urlFindings(reference)
    // The type does not matter for media that are not fetched at all, or that no device of Apple's
    // shows.
    let matters = reference.role == .attachment && !reference.isForOthers && !findings.contains { $0.code == .urlRefused }
    return matters ? findings + typeFindings(reference) : findings
  }

  private func manyFindings() -> [LintFinding] {
    guard inspection.omitted > 0 else { return [] }
    let (read, named) = (inspection.media.count, inspection.media.count + inspection.omitted)
    return [finding(.mediaMany, at: "", "the payload names \(Inspection.number(named)) media; attache reads only the first \(read)")]
  }

  /// Checks URLs that nothing reads. Those in `aps` have a finding of their own.
  private func unreadFindings() -> [LintFinding] {
    inspection.unread.compactMap { unread in
      let place = UntrustedText(unread.place.description)
      guard !unread.isOutside else { return finding(.mediaUnread, inLine: place, unread.text) }
      guard !place.starts(with: "/aps/") else { return nil }
      return finding(.mediaUnread, inLine: paths.path(of: place), unread.text)
    }
  }

  /// Checks values of another type than a vendor's helper reads, also beside media that are attached.
  private func formFindings() -> [LintFinding] {
    inspection.misfits.map { misfit in
      finding(.mediaForm, at: UntrustedText(misfit.place.description), paths.sentence(of: misfit), source: sources(misfit.dialect))
    }
  }

  private func urlFindings(_ reference: MediaReference) -> [LintFinding] {
    let url = URLReference(Array(reference.url.utf8)[...])
    let quoted = URLDetail.short.text(of: reference.url)
    if url.scheme == nil, url.authority == nil, Self.isRelative(reference) {
      return [
        finding(.urlRelative, of: reference, "the URL “\(quoted)” is relative, and only the app knows its base", source: vendorSource)
      ]
    }
    var findings: [LintFinding] = []
    if url.scheme?.map(\.lowercasedASCII).elementsEqual("http".utf8) == true, !reference.isForOthers {
      let isVendors = reference.needs.contains(.https)
      findings.append(finding(isVendors ? .urlHTTPS : .urlHTTP, of: reference, source: isVendors ? vendorSource : nil))
    }
    if let refusal = report.answers(to: reference.url).first(where: { $0.passes == false }) {
      findings.append(finding(.urlRefused, of: reference, refusal.text))
    }
    return findings
  }

  /// Returns whether the URL is a path, or a word that the vendor's app turns into an address. Any
  /// other text is not a URL.
  private static func isRelative(_ reference: MediaReference) -> Bool {
    guard URLMistake(reference.url.utf8) == nil else { return false }
    return reference.needs.contains(.baseURL) || reference.url.utf8.first == UInt8(ascii: "/")
      || !reference.url.utf8.contains { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "\\") }
  }

  private func typeFindings(_ reference: MediaReference) -> [LintFinding] {
    let hint = HintedType(of: reference)
    let fileExtension = FileExtension.of(reference.url)
    var findings: [LintFinding] = []
    if reference.typeHint == nil, reference.needs.contains(.typeHint) {
      findings.append(finding(.typeHint, of: reference, source: vendorSource))
    }
    if let hint, !reference.isHintFixed, let type = fileExtension.flatMap(HintedType.init(fileExtension:)), !hint.agrees(with: type) {
      let written = PrintableText.of(reference.typeHint ?? "")
      findings.append(
        finding(.typeContradiction, of: reference, "the hint “\(written)” contradicts the URL's extension .\(fileExtension ?? "")"))
    } else if hint == nil, fileExtension.flatMap(MediaType.init(fileExtension:)) == nil,
      !(converts && FileExtension.isConverted(fileExtension))
    {
      findings.append(finding(.typeUnguessable, of: reference, Self.unguessable(fileExtension)))
    }
    return findings
  }

  private static func unguessable(_ fileExtension: String?) -> String? {
    fileExtension.map {
      "the extension .\($0) tells Apple's frameworks none of the types that they attach: it may work here but fails on a phone"
    }
  }
}
