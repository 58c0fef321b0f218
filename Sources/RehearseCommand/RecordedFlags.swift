/// The flags of a recorded run that its scenario keeps.
enum RecordedFlags {
  /// Flags with a value that a scenario states in its own fields, that a rehearsal supplies, or
  /// that no scenario may contain.
  private static let dropped: Set<String> = [
    "--deadline", "--grace", "--store", "--store-max", "--store-age", "--report", "--dns-server", "--cacert", "--allow-net",
    "--cache", "--allow-port", "--dialects", "--proxy",
  ]
  private static let droppedSwitches: Set<String> = ["--allow-http", "--keep-media", "--strict"]

  /// Whether the run used the user's own dialects. The scenario then misses their media, because a
  /// scenario names no files elsewhere.
  static func lacksDialects(of arguments: [String]) -> Bool {
    arguments.contains { $0 == "--dialects" || $0.hasPrefix("--dialects=") }
  }

  /// Returns the flags that the scenario keeps.
  ///
  /// - Parameters:
  ///   - arguments: the command-line arguments of the run.
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
