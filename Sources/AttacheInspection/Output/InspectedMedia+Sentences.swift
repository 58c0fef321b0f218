internal import Attache

extension InspectedMedia {
  /// Returns sentences for display about the media's properties and what happens to it.
  func sentences(_ inspection: Inspection) -> [String] {
    [detailSentence].compactMap { $0 } + gateSentences(gates, runs: inspection.runs) + fetchSentences(fetch, gates)
      + fallbackSentences
  }

  private var detailSentence: String? {
    var parts: [String] = []
    if let path = reference.path, !path.isEmpty { parts.append("at \(PrintableText.of(path))") }
    if let identifier = reference.identifier, !identifier.isEmpty { parts.append("identifier “\(PrintableText.of(identifier))”") }
    if let hint = reference.typeHint { parts.append("type hint “\(PrintableText.of(hint))”") }
    if reference.options.thumbnailHidden == true { parts.append("thumbnail hidden") }
    if let rect = reference.options.thumbnailClippingRect {
      parts.append("thumbnail cut to \(rect.x), \(rect.y), \(rect.width), \(rect.height)")
    }
    if let time = reference.options.thumbnailTime { parts.append("thumbnail at \(time) s") }
    if !reference.needs.isEmpty { parts.append("the vendor's helper needs \(reference.needs.names.joined(separator: ", "))") }
    return parts.isEmpty ? nil : parts.sentence
  }

  /// Returns the gates' answers in order. The payload gate's refusal is omitted if no service
  /// extension runs, because an earlier sentence states it.
  private func gateSentences(_ gates: [GateAnswer], runs: Bool) -> [String] {
    let shown = gates.filter { $0.gate != .payload || (runs || reference.isForOthers) && $0.passes == false }
    guard shown.contains(where: { $0.passes == false }) else {
      let conditions = shown.filter { $0.gate == .url && $0.text != GateAnswer.plainPass }.map { $0.text.capitalisedFirst + "." }
      return shown.isEmpty ? conditions : [shown.map(\.clause).sentence] + conditions
    }
    return shown.map { [$0.clause].sentence }
  }

  private var fallbackSentences: [String] {
    fallbacks.flatMap { fallback in
      ["If that fails, attache tries \(URLDetail.full.text(of: fallback.url))."]
        + gateSentences(fallback.gates.filter { $0.passes == false }, runs: true) + fetchSentences(fallback.fetch, fallback.gates)
    }
  }

  /// Returns the result of a fetch, unless a gate has already given the same reason.
  private func fetchSentences(_ fetch: MediaRecord?, _ gates: [GateAnswer]) -> [String] {
    guard let fetch, fetch.reason == nil || !gates.contains(where: { $0.reason == fetch.reason }) else { return [] }
    let parts = [
      fetch.status.map { "status \($0)" }, fetch.type.map { $0.rawValue }, "\(Inspection.number(fetch.bytes)) bytes",
      fetch.cache == .miss ? nil : "cache \(fetch.cache.rawValue)", fetch.timing.dns.map { "name \(Self.milliseconds($0))" },
      fetch.timing.connect.map { "connection \(Self.milliseconds($0))" }, fetch.timing.tls.map { "TLS \(Self.milliseconds($0))" },
      fetch.timing.firstByte.map { "first byte \(Self.milliseconds($0))" }, fetch.timing.total.map { "all \(Self.milliseconds($0))" },
    ].compactMap { $0 }
    let details = parts.joined(separator: ", ")
    guard let reason = fetch.reason else {
      let conversion = fetch.converted.map { made in
        "\(made.isRepair ? "Repaired, because its structure is damaged" : "Converted"): \(made.from.rawValue) became \(made.width) × \(made.height) pixels in \(Inspection.number(made.size)) bytes."
      }
      return ["Fetched: \(details)."] + (conversion.map { [$0] } ?? [])
    }
    return ["Not attached (\(reason.rawValue)): \(fetch.explanation ?? reason.advice). \(details.capitalisedFirst)."]
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\((duration.milliseconds * 10).rounded() / 10) ms"
  }
}

extension GateAnswer {
  /// The answer in one clause.
  fileprivate var clause: String {
    switch passes {
    case true?: "\(name) allows it"
    case false?: "\(name) refuses it\(reason.map { " (\($0.rawValue))" } ?? ""): \(text)"
    case nil: text
    }
  }

  private var name: String {
    switch gate {
    case .payload: "the payload's gate"
    case .url: "the URL gate"
    case .address: "the address gate"
    }
  }
}

extension [String] {
  /// The parts as one sentence.
  fileprivate var sentence: String {
    joined(separator: "; ").capitalisedFirst + "."
  }
}

extension String {
  fileprivate var capitalisedFirst: String {
    prefix(1).uppercased() + dropFirst()
  }
}
