/// The values of a scenario's placeholders, which are known only when it runs.
package struct Placeholders: Sendable {
  /// The address of an origin.
  package struct Address: Sendable, Hashable {
    /// `http` or `https`.
    package var scheme: String
    /// An address; IPv6 in brackets.
    package var host: String
    package var port: Int

    package init(scheme: String, host: String = "127.0.0.1", port: Int) {
      self.scheme = scheme
      self.host = host
      self.port = port
    }

    package var text: String { "\(scheme)://\(host):\(port)" }
  }

  private let origins: [String: Address]

  /// - Parameter origins: the addresses by name; the one named `origin` also provides `{{port}}`.
  package init(origins: [String: Address]) {
    self.origins = origins
  }

  /// Returns a text with its placeholders filled in. Braces around anything else stay unchanged.
  /// - Parameter number: the payload's number, from 1; nil leaves `{{n}}` unchanged.
  package func fill(_ text: String, number: Int? = nil) -> String {
    Placeholder.fill(text) { value(of: $0, number) }
  }

  private func value(of placeholder: Placeholder, _ number: Int?) -> String? {
    if let count = placeholder.padding { return String(repeating: "x", count: count) }
    return switch placeholder.name {
    case "n": number.map(String.init)
    case Placeholder.braces: "{{"
    case "port": origins["origin"].map { String($0.port) }
    default: address(placeholder.name)
    }
  }

  private func address(_ word: String) -> String? {
    if let address = origins[word] { return address.text }
    guard word.hasSuffix(".port") else { return nil }
    return origins[String(word.dropLast(".port".count))].map { String($0.port) }
  }
}

extension Placeholders {
  /// Returns the lines of input.
  package func lines(of scenario: Scenario) -> [[UInt8]] {
    scenario.payloads.enumerated().map { Array(fill($0.element, number: $0.offset + 1).utf8) }
  }

  /// Returns the scenario with the texts of its origins and its flags filled in. Its payloads stay
  /// unchanged.
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
      case .status, .length, .send, .hex, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: step.action
      }
    return step
  }
}
