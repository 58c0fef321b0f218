internal import AttacheTesting

/// The flags of a recorded run that its scenario keeps.
enum RecordedFlags {
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
      if argument == file { continue }
      guard let flag = EngineFlag.named(argument.prefix { $0 != "=" }), flag.traits.contains(.unrecorded) else {
        kept.append(argument)
        continue
      }
      if flag.valueName != nil, flag.name == argument { _ = rest.popFirst() }
    }
    return kept
  }
}
