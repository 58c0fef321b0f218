extension ScenarioField {
  /// Parses `full after SIZE` or `read-only`.
  func disk() throws(ScenarioError) -> DiskScript {
    let text = try text()
    if text == "read-only" { return .readOnly }
    let prefix = "full after "
    guard text.hasPrefix(prefix), let bytes = Int(argument: String(text.dropFirst(prefix.count))) else {
      throw error("write `full after 10KB` or `read-only`")
    }
    guard bytes <= Self.largestSize else { throw error("\(text) is too large; a disk has at most 1TB") }
    return .full(afterBytes: bytes)
  }

  /// Parses `real`, the only accepted value.
  func isRealClock() throws(ScenarioError) -> Bool {
    guard try text() == "real" else { throw error("write `real`, or remove the field: without it, the scenario runs on both clocks") }
    return true
  }

  /// Parses flags of attache. They must be valid and safe in an untrusted scenario.
  func flags(origins: [String: OriginScript], network: ScenarioNetwork) throws(ScenarioError) -> [String] {
    var flags: [String] = []
    if isList {
      for item in try list() { flags.append(try item.text()) }
    } else {
      flags = try text().split(separator: " ").map(String.init)
    }
    for flag in flags { try check(placeholdersOf: flag, origins: origins, what: "flag \(flag)") }
    do throws(EngineFlagMistake) {
      try ScenarioFlags.check(flags.map { Placeholder.withExamples($0) }, network: network)
    } catch {
      throw self.error(error.description)
    }
    return flags
  }

  /// Checks that every placeholder of a text is known.
  func check(placeholdersOf text: String, origins: [String: OriginScript], what: String) throws(ScenarioError) {
    for placeholder in Placeholder.all(in: text) where !placeholder.isKnown(origins: Array(origins.keys)) {
      throw error(
        "\(what): {{\(placeholder.name)}} is not known; there are {{origin}}, {{port}}, {{NAME}} and {{NAME.port}} of `origins`, {{n}}, {{pad N}} with N up to \(Placeholder.maximumPadding), and {{braces}}"
      )
    }
  }
}
