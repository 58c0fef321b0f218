extension ScenarioField {
  private static let actions = ["status", "header", "redirect", "length", "send", "text", "hex", "raw", "do"]

  /// Parses a step: a single word, or one action with its time.
  func step(_ files: ScenarioFolder) throws(ScenarioError) -> OriginStep {
    guard isMapping else { return OriginStep(try bareAction()) }
    let fields = try members(of: Self.actions + ["at", "repeat", "every"])
    let named = Self.actions.compactMap { name in fields[name].map { (name, $0) } }
    guard named.count == 1, let (name, field) = named.first else {
      throw error("a step has exactly one action of \(Self.actions.joined(separator: ", "))")
    }
    return OriginStep(
      try field.action(name, files), at: try fields["at"]?.duration(), repetition: try fields["repeat"]?.repetition(),
      every: try fields["every"]?.duration())
  }

  private func bareAction() throws(ScenarioError) -> OriginStep.Action {
    switch try text() {
    case "stall": .stall
    case "reset": .reset
    case "close": .close
    case "cut": .cut
    case "goaway": .goAway
    case let other: try namedFault(other)
    }
  }

  private func namedFault(_ name: String) throws(ScenarioError) -> OriginStep.Action {
    if let flood = HeaderFlood(rawValue: name) { return .flood(flood) }
    if let fault = FetcherFault(rawValue: name) { return .fetcher(fault) }
    let others = (HeaderFlood.allCases.map(\.rawValue) + FetcherFault.allCases.map(\.rawValue)).joined(separator: ", ")
    throw error("“\(name)” is not known here; write stall, reset, close, cut, goaway, \(others), or an action such as `send: photo.jpg`")
  }

  private func action(_ name: String, _ files: ScenarioFolder) throws(ScenarioError) -> OriginStep.Action {
    switch name {
    case "status": .status(try status())
    case "header": try header()
    case "redirect": .redirect(try text())
    case "length": .length(try length())
    case "send": try sending(files)
    case "text": .text(try text())
    case "hex": .hex(try bytesInHexadecimal())
    case "raw": .raw(try text())
    default: try bareAction()
    }
  }

  private func status() throws(ScenarioError) -> Int {
    let status = try number()
    guard (200...999).contains(status) else { throw error("a status is a number from 200 to 999") }
    return status
  }

  private func bytesInHexadecimal() throws(ScenarioError) -> [UInt8] {
    guard let bytes = [UInt8](hexadecimal: try text()) else {
      throw error("write bytes as pairs of hexadecimal digits, such as 'ff d8 00'")
    }
    return bytes
  }

  private func header() throws(ScenarioError) -> OriginStep.Action {
    let text = try text()
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, !text.contains("\n"), !text.contains("\r") else {
      throw error("write a header as 'Name: value'")
    }
    let value = text[text.index(after: colon)...].drop { $0 == " " }
    return .header(name: String(text[..<colon]), value: String(value))
  }

  private func length() throws(ScenarioError) -> OriginStep.Length {
    let text = try text()
    switch text {
    case "chunked": return .chunked
    case "none": return .absent
    default:
      guard let number = Int(text), number.magnitude <= Self.largestSize else {
        throw error("a length is a number, +N or -N (wrong by this many bytes), chunked or none; a number is at most \(Self.largestSize)")
      }
      return text.hasPrefix("+") || text.hasPrefix("-") ? .offBy(number) : .bytes(number)
    }
  }

  private func repetition() throws(ScenarioError) -> OriginStep.Repetition {
    try text() == "forever" ? .forever : .times(try count(upTo: 1_000_000))
  }

  /// Parses `FILE` or `N bytes of FILE`.
  private func sending(_ files: ScenarioFolder) throws(ScenarioError) -> OriginStep.Action {
    let text = try text()
    guard let range = text.firstRange(of: " bytes of ") else { return .send(try medium(text, files), count: nil) }
    guard let count = Int(argument: String(text[..<range.lowerBound])), count > 0 else {
      throw error("write `N bytes of FILE`, such as 512 bytes of media/photo.jpg")
    }
    let medium = try medium(String(text[range.upperBound...]), files)
    guard count <= medium.bytes.count else { throw error("\(medium.name) has \(medium.bytes.count) bytes; write no more than that") }
    return .send(medium, count: count)
  }

  private func medium(_ name: String, _ files: ScenarioFolder) throws(ScenarioError) -> Medium {
    do throws(ScenarioFolder.Refusal) {
      if let bytes = try files.read(name) { return Medium(name: name, bytes: bytes) }
      if let bytes = try files.standIn(name) { return Medium(name: name, bytes: bytes) }
    } catch {
      throw self.error(error.description)
    }
    throw error(
      "there is no file \(name) in the scenario's folder or in the folder media beside it; write a generated one as stand-in-20000.jpg: this many bytes of that type"
    )
  }
}
