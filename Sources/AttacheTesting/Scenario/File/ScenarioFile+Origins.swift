internal import Attache

extension ScenarioField {
  /// Parses an origin: its settings, and its paths, which begin with a slash.
  func origin(_ files: ScenarioFolder) throws(ScenarioError) -> OriginScript {
    var origin = OriginScript()
    for (name, field) in isNull ? [] : try members() {
      switch name {
      case "tls": origin.tls = try field.choice()
      case "connection": origin.connection = try field.choice()
      case "listen": origin.listening = try field.listening()
      case "names": origin.certificateNames = try field.certificateNames()
      case "http2": origin.offersHTTP2 = try field.truth()
      default:
        guard name.hasPrefix("/") else {
          throw field.error(
            "there is no such field here; write one of tls, names, listen, connection, http2, and paths, which begin with /")
        }
        origin.paths[name] = try field.path(files)
      }
    }
    if origin.connection != nil, !origin.paths.isEmpty {
      throw error("an origin whose connections are \(origin.connection?.rawValue ?? "") answers nothing: remove its paths")
    }
    return origin
  }

  /// Parses `443`, `8.8.8.8`, `8.8.8.8:443`, `[2606:4700::1]:443`.
  private func listening() throws(ScenarioError) -> OriginScript.Listening {
    let text = try text()
    if let port = UInt16(text), port > 0 { return OriginScript.Listening(port: port) }
    if let address = IPAddress(text) { return OriginScript.Listening(address: address) }
    let colon = text.lastIndex(of: ":") ?? text.startIndex
    let host = text[..<colon]
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
    guard let address = IPAddress(bare), let port = UInt16(text[colon...].dropFirst()), port > 0 else {
      throw error("an origin listens on a port, an address or both: 8443, 8.8.8.8, 8.8.8.8:8443 or [2606:4700::1]:8443, not “\(text)”")
    }
    return OriginScript.Listening(address: address, port: port)
  }

  private func certificateNames() throws(ScenarioError) -> [String] {
    guard isList else { return [try text()] }
    var names: [String] = []
    for item in try list() { names.append(try item.text()) }
    return names
  }

  private static let turns = ["first", "second", "third"]

  /// Parses the behavior of a path: a list of steps, or one list per request.
  private func path(_ files: ScenarioFolder) throws(ScenarioError) -> PathScript {
    guard isMapping else { return PathScript(responses: [try steps(files)]) }
    return PathScript(responses: try turns { field throws(ScenarioError) in try field.steps(files) })
  }

  /// Parses `first`, `second`, `third` and `then`: the values in order.
  func turns<Value>(_ read: (ScenarioField) throws(ScenarioError) -> Value) throws(ScenarioError) -> [Value] {
    let fields = try members(of: Self.turns + ["then"])
    var values: [Value] = []
    for (index, name) in Self.turns.enumerated() {
      guard let field = fields[name] else { continue }
      guard values.count == index else { throw field.error("`\(Self.turns[values.count])` is missing before it") }
      values.append(try read(field))
    }
    guard let last = fields["then"] else { throw error("`then:` is missing: it says what happens from there on") }
    return values + [try read(last)]
  }

  private func steps(_ files: ScenarioFolder) throws(ScenarioError) -> [OriginStep] {
    guard !isNull else { return [] }
    var steps: [OriginStep] = []
    var order = StepOrder()
    var size = 0
    for item in try list() {
      let step = try item.step(files)
      if let mistake = order.mistake(adding: step) { throw item.error(mistake) }
      steps.append(step)
      size = size.adding(step)
      guard size <= Self.maximumResponse else {
        throw item.error(
          "up to here the response has more than \(Self.maximumResponse) bytes; send or repeat less, or write `repeat: forever`")
      }
    }
    return steps
  }

  /// The maximum size of one response in bytes. It includes repetitions, except endless ones.
  private static let maximumResponse = 1_000_000_000

  /// Checks that the placeholders of every redirect can be filled in.
  func checkRedirects(of origins: [String: OriginScript]) throws(ScenarioError) {
    for origin in origins.values {
      for steps in origin.paths.values.flatMap(\.responses) {
        for step in steps {
          if case .redirect(let place) = step.action { try check(placeholdersOf: place, origins: origins, what: "redirect") }
        }
      }
    }
  }
}

extension Int {
  /// Returns the sum with the bytes that a step sends; saturates.
  fileprivate func adding(_ step: OriginStep) -> Int {
    let size =
      switch step.action {
      case .header(let name, let value): name.utf8.count + Placeholder.filledSize(of: value)
      case .redirect(let text), .text(let text), .raw(let text): Placeholder.filledSize(of: text)
      case .send(let medium, let count): count ?? medium.bytes.count
      case .hex(let bytes): bytes.count
      case .status, .length, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: 0
      }
    let times = if case .times(let count)? = step.repetition { count } else { 1 }
    let (product, isTooLarge) = size.multipliedReportingOverflow(by: times)
    let (sum, overflows) = addingReportingOverflow(product)
    return isTooLarge || overflows ? .max : sum
  }
}
