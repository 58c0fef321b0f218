/// What stands in a scenario's texts for what is known only when it runs.
package struct Placeholders: Sendable {
  /// Where an origin is reached.
  package struct Address: Sendable, Hashable {
    /// `http` or `https`.
    package var scheme: String
    package var port: Int

    package init(scheme: String, port: Int) {
      self.scheme = scheme
      self.port = port
    }
  }

  /// More letters than this are nobody's payload.
  private static let maximumPad = 64 << 20

  private let origins: [String: Address]

  /// - Parameter origins: by name; the one that is named `origin` has `{{port}}` too.
  package init(origins: [String: Address]) {
    self.origins = origins
  }

  /// Fills a text in; braces around anything else stay as they are.
  /// - Parameter number: the payload's, from 1; nil leaves `{{n}}` as it is.
  package func fill(_ text: String, number: Int? = nil) -> String {
    var filled = ""
    var rest = text[...]
    while let opening = rest.firstRange(of: "{{"), let closing = rest[opening.upperBound...].firstRange(of: "}}") {
      filled += rest[..<opening.lowerBound]
      // Of three braces in a row, as a JSON object has them, the inner two are meant.
      if let value = value(of: rest[opening.upperBound..<closing.lowerBound], number) {
        filled += value
        rest = rest[closing.upperBound...]
      } else {
        filled += "{"
        rest = rest[rest.index(after: opening.lowerBound)...]
      }
    }
    return filled + rest
  }

  private func value(of name: Substring, _ number: Int?) -> String? {
    let words = name.split(separator: " ")
    switch words.first {
    case "n" where words.count == 1: return number.map(String.init)
    case "port" where words.count == 1: return origins["origin"].map { String($0.port) }
    case "pad" where words.count == 2:
      return Int(words[1]).flatMap { 0...Self.maximumPad ~= $0 ? String(repeating: "x", count: $0) : nil }
    case let word? where words.count == 1: return address(String(word))
    default: return nil
    }
  }

  private func address(_ word: String) -> String? {
    if let address = origins[word] { return "\(address.scheme)://127.0.0.1:\(address.port)" }
    guard word.hasSuffix(".port") else { return nil }
    return origins[String(word.dropLast(".port".count))].map { String($0.port) }
  }
}

extension Placeholders {
  /// The lines of input.
  package func lines(of scenario: Scenario) -> [[UInt8]] {
    scenario.payloads.enumerated().map { Array(fill($0.element, number: $0.offset + 1).utf8) }
  }

  /// The scenario with the texts of its origins and its flags filled in; its payloads are left.
  package func filled(_ scenario: Scenario) -> Scenario {
    var scenario = scenario
    scenario.flags = scenario.flags.map { fill($0) }
    scenario.origins = scenario.origins.mapValues { origin in
      var origin = origin
      origin.paths = origin.paths.mapValues { PathScript(responses: $0.responses.map { steps in steps.map(filled) }) }
      return origin
    }
    return scenario
  }

  private func filled(_ step: OriginStep) -> OriginStep {
    var step = step
    step.action =
      switch step.action {
      case .header(let name, let value): .header(name: name, value: fill(value))
      case .redirect(let location): .redirect(fill(location))
      case .text(let text): .text(fill(text))
      case .raw(let text): .raw(fill(text))
      case .status, .length, .send, .stall, .reset, .close: step.action
      }
    return step
  }
}
