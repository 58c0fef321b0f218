/// The flags of a recorded run that belong into its scenario.
enum RecordedFlags {
  /// Flags with a value that a scenario says in fields of its own, that a rehearsal gives, or that
  /// no scenario may hold.
  private static let dropped: Set<String> = [
    "--deadline", "--grace", "--store", "--store-max", "--store-age", "--report", "--dns-server", "--cacert", "--allow-net",
    "--cache", "--allow-port", "--dialects", "--proxy",
  ]
  private static let droppedSwitches: Set<String> = ["--allow-http", "--keep-media", "--strict"]

  /// Whether the scenario finds no media that the run found by dialects of the user's own: a
  /// scenario names no file elsewhere.
  static func lacksDialects(of arguments: [String]) -> Bool {
    arguments.contains { $0 == "--dialects" || $0.hasPrefix("--dialects=") }
  }

  /// - Parameters:
  ///   - arguments: as they were given.
  ///   - file: the scenario's name among them.
  static func kept(of arguments: [String], file: String) -> [String] {
    var kept: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let name = String(argument.prefix { $0 != "=" })
      if droppedSwitches.contains(name) || argument == file { continue }
      guard dropped.contains(name) else {
        kept.append(argument)
        continue
      }
      if name == argument { _ = rest.popFirst() }
    }
    return kept
  }
}
