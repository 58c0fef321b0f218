internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Glibc

/// `attache rehearse PATH…`: plays scenarios and reports what differs from the expectation.
struct RunScenarios: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse",
    abstract: """
      Rehearse scenarios with attache's engine, any filter or a queue's worker; or an iOS service extension or app delegate in built-in \
      situations.
      """,
    discussion: """
      A scenario is a YAML file: payloads, what the origin, DNS and the disk do, and the expected result. Everything happens on loopback.

      --command rehearses another program, through /bin/sh: it reads the payloads on standard input and writes them on standard output. \
      Its environment has these variables:

      \(CommandRehearsal.environmentHelp)

      Exit status: 0 when all passed, 99 when a scenario failed, 64 for wrong usage, 65 for a wrong file, 74 when a report cannot be written, 75 when a \
      signal (SIGINT, SIGTERM, SIGHUP) ended it before all were played: the reports then contain the scenarios that ran.
      """)

  @Argument(help: "Scenario files, or folders in which all .yaml and .yml files are scenarios.", completion: .file())
  var paths: [String] = []

  @OptionGroup(title: "What is rehearsed") var play: PlayOptions
  @OptionGroup(title: "An iOS service extension") var tested: ExtensionRehearsalOptions
  @OptionGroup(title: "Another filter, or a queue") var command: CommandOptions
  @OptionGroup(title: "Reports") var reports: ReportOptions

  func validate() throws {
    guard Validation.isOn else { return }
    try command.check(clock: play.clock)
    guard tested.path != nil else {
      guard !paths.isEmpty else { throw ValidationError("Name scenario files or folders, or an iOS service extension with --extension.") }
      return
    }
    guard command.command == nil, command.queue == nil else {
      throw ValidationError("--extension rehearses attache's own filter with the extension; remove --command and --queue.")
    }
    guard tested.kind == .serviceExtension || paths.isEmpty else {
      throw ValidationError("Scenarios play with a service extension; remove --app-delegate, or the scenario files.")
    }
    if paths.isEmpty { try play.checkSituations() } else { try tested.checkScenarios() }
    guard play.clock == .real else { throw ValidationError("An extension runs on the real clock; remove --clock \(play.clock.rawValue).") }
  }

  func run() async throws {
    if tested.path != nil, paths.isEmpty, play.list { return Self.list(ExtensionRehearsal.scenarios(situations, file: "")) }
    let program = try tested.program()
    defer { withExtendedLifetime(program) {} }
    if let program, paths.isEmpty { return try await rehearse(program) }
    let files = try ScenarioFiles(paths, leavesOutLarge: command.leavesOutLarge && !play.list, where: play.selects)
    if !files.mistakes.isEmpty, !play.keepGoing || play.list {
      for mistake in files.mistakes { Terminal.error.write("\(mistake.error)\n") }
      throw ExitCode(ExitStatus.data)
    }
    guard !(files.scenarios + files.large).isEmpty || !files.mistakes.isEmpty else {
      throw ValidationError("--only: no scenario has this name; --list shows the names")
    }
    if play.list { return Self.list(files.scenarios) }
    var rehearsal = Rehearsal(files.scenarios, player: player(of: program), seeds: play.seeds, isSeeded: isSeeded)
    rehearsal.notes = command.notes + Self.note(files.large)
    let baseline = try reports.readBaseline(clock: rehearsal.clock)
    let reporter = RehearsalReporter(try reports.open(), baseline: baseline)
    try await perform(rehearsal, reporter, known(files, baseline, rehearsal.depth))
  }

  private var situations: [ExtensionSituation] { tested.situations.filter { play.selects($0.name) } }

  /// Rehearses an extension in the built-in situations.
  private func rehearse(_ program: ExtensionUnderRehearsal) async throws {
    let situations = situations
    guard !situations.isEmpty else { throw ValidationError("--only: no situation has this name; --list shows the names") }
    var tests = try tested.rehearsal(of: program.program)
    tests.timeScale = play.timeScale
    let player = Rehearsal.Player.serviceExtension(tests, situations)
    let scenarios = ExtensionRehearsal.scenarios(situations, file: tested.path ?? "")
    let rehearsal = Rehearsal(scenarios, player: player, seeds: play.seeds, isSeeded: false)
    let reporter = RehearsalReporter(try reports.open(), baseline: try reports.readBaseline(clock: rehearsal.clock))
    try await perform(rehearsal, reporter, [])
  }

  /// Returns the results that are known before anything is played: wrong files, scenarios that are
  /// left out, and scenarios of the baseline that are not rehearsed.
  private func known(_ files: ScenarioFiles, _ baseline: Baseline?, _ depth: ScenarioResult.Depth) -> [ScenarioResult] {
    let wrong = files.mistakes.map { mistake in
      var result = ScenarioResult(Scenario(name: mistake.name, file: mistake.error.file, payloads: []), depth: depth)
      result.findings = [Finding(.stage, mistake.error.description)]
      return result
    }
    let left = files.large.map { scenario in
      var result = ScenarioResult(scenario, depth: depth)
      result.skipped = "it has \(scenario.payloads.count) payloads; --large plays it"
      return result
    }
    let present = files.scenarios + (wrong + left).map(\.scenario)
    let gone = baseline?.gone(from: present, depth: depth).filter { play.selects($0.scenario.name) } ?? []
    return wrong + left + gone
  }

  private static func note(_ large: [Scenario]) -> [String] {
    guard !large.isEmpty else { return [] }
    let what = large.count == 1 ? "1 scenario of 10,000 payloads or more is" : "\(large.count) scenarios of 10,000 payloads or more are"
    return ["\(what) skipped for a command: \(large.map(\.name).joined(separator: ", ")); --large plays them"]
  }

  private func player(of program: ExtensionUnderRehearsal?) -> Rehearsal.Player {
    if let program {
      var rehearsal = CommandRehearsal(program.filterCommand(tested.filterFlags))
      (rehearsal.timeScale, rehearsal.goesOnAfterHang) = (play.timeScale, play.keepGoing)
      return .command(rehearsal, parallel: play.parallel)
    }
    return command.queueRehearsal(timeScale: play.timeScale).map { .queue($0, parallel: play.parallel) }
      ?? command.rehearsal(timeScale: play.timeScale, keepsGoing: play.keepGoing).map { .command($0, parallel: play.parallel) }
      ?? .engine(play.clock, timeScale: play.timeScale, parallel: play.parallel)
  }

  private var isSeeded: Bool { play.seeds.count > 1 || play.clock != .real || command.killRandom != nil }

  /// Plays until all is done or a signal arrives. A signal ends what is running, and the reports
  /// cover what has run.
  private func perform(_ rehearsal: Rehearsal, _ reporter: RehearsalReporter, _ known: [ScenarioResult]) async throws {
    let signals = Signals()
    let work = Task { await rehearsal.perform(reporter, known) }
    let watch = Task {
      let number = await signals.first()
      if number != nil { work.cancel() }
      return number
    }
    let results = await work.value
    watch.cancel()
    let isInterrupted = await watch.value != nil
    if isInterrupted { reporter.interrupt() }
    let isWritten = reporter.end(results)
    if isInterrupted { throw ExitCode(ExitStatus.temporaryFailure) }
    if results.contains(where: { !$0.findings.isEmpty }) { throw ExitCode(ExitStatus.rehearsalFailed) }
    if results.allSatisfy({ $0.skipped != nil }) {
      Terminal.error.write("attache rehearse: every scenario was skipped, so nothing was rehearsed\n")
      throw ExitCode(ExitStatus.rehearsalFailed)
    }
    if !isWritten { throw ExitCode(ExitStatus.inputOutput) }
  }

  private static func list(_ scenarios: [Scenario]) {
    let width = scenarios.map(\.name.count).max() ?? 0
    for scenario in scenarios { Terminal.output.write("\(scenario.name.padded(to: width))  \(scenario.about)\n") }
  }
}
