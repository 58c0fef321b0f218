internal import ArgumentParser
internal import AttacheArguments
internal import AttacheTesting

/// The clock that the scenarios run against.
enum ClockChoice: String, ExpressibleByArgument, CaseIterable {
  case real, virtual, both

  var clock: ScenarioRunner.Clock {
    switch self {
    case .real: .real
    case .virtual: .virtual
    case .both: .both
    }
  }
}

/// The flags for which scenarios are played, and how.
struct PlayOptions: ParsableArguments {
  @Option(help: "real (sockets on loopback), virtual (a simulated machine, on which waiting takes no time) or both, which must agree.")
  var clock = ClockChoice.real

  @Option(help: ArgumentHelp("Scale every time of the scenarios, such as by 0.1.", valueName: "factor"))
  var timeScale = 1.0

  @Option(
    help: ArgumentHelp(
      "The seed of what is random: the interleaving on the virtual clock, and the kill points. (default: 1)", valueName: "n"))
  var seed: UInt64?

  @Option(help: ArgumentHelp("Play all scenarios this many times, each time with the next seed. (default: 1)", valueName: "n"))
  var `repeat`: Int?

  @Option(help: ArgumentHelp("Scenarios played at a time. (default: two for each core)", valueName: "n"))
  var parallel: Int?

  @Option(help: ArgumentHelp("Only scenarios whose name contains this. Repeatable.", valueName: "name"))
  var only: [String] = []

  @Flag(
    help: """
      Continue where a rehearsal would stop: play the others when a scenario file is wrong, which then counts as failed, and when \
      the command hangs. No other failure stops a rehearsal.
      """)
  var keepGoing = false

  @Flag(help: "List the scenarios instead of playing them.")
  var list = false

  func validate() throws {
    guard Validation.isOn else { return }
    guard timeScale > 0, timeScale <= 1_000 else {
      throw ValidationError("--time-scale must be a number above 0 and at most 1000, such as 0.1.")
    }
    guard (1...1_000_000).contains(self.repeat ?? 1) else { throw ValidationError("--repeat must be at least 1 and at most 1000000.") }
    guard (1...1_024).contains(parallel ?? 1) else { throw ValidationError("--parallel must be at least 1 and at most 1024.") }
  }

  var seeds: [UInt64] {
    (0..<UInt64(self.repeat ?? 1)).map { (seed ?? 1) &+ $0 }
  }

  /// Rejects the flags of scenarios when the built-in situations of an extension are played: these
  /// are played once, one after another.
  func checkSituations() throws {
    let given: [(Bool, String)] = [
      (seed != nil, "--seed"), (self.repeat != nil, "--repeat"), (parallel != nil, "--parallel"), (keepGoing, "--keep-going"),
    ]
    guard let flag = given.first(where: { $0.0 })?.1 else { return }
    throw ValidationError("\(flag) applies to scenario files; the built-in situations are played once, one after another. Remove it.")
  }

  /// Whether `--only` selects a scenario.
  ///
  /// - Parameter name: the scenario's name.
  func selects(_ name: String) -> Bool {
    only.isEmpty || only.contains { name.contains($0) }
  }
}
