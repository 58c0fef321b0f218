internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Glibc

/// `attache rehearse PATH…`: plays scenarios, and says what went otherwise than it must.
struct RunScenarios: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse",
    abstract: "Rehearse scenarios: attache's own engine, any filter, or a queue's worker, with a network that fails as the scenario says.",
    discussion: """
      A scenario is a YAML file: payloads, what the origin, DNS and the disk do, and what must come of it. Everything happens on loopback.

      With --command another program is rehearsed, through /bin/sh: it reads the payloads on standard input and writes them on standard output. \
      Its environment says where the scenario's world is:

      \(CommandRehearsal.environmentHelp)

      Exit status: 0 when all passed, 99 when a scenario failed, 64 for wrong use, 65 for a wrong file, 74 when a report cannot be written.
      """)

  @Argument(help: "Scenario files, or folders in which all .yaml and .yml files are scenarios.", completion: .file())
  var paths: [String]

  @OptionGroup(title: "What is rehearsed") var play: PlayOptions
  @OptionGroup(title: "Another filter, or a queue") var command: CommandOptions
  @OptionGroup(title: "Reports") var reports: ReportOptions

  func validate() throws {
    try command.check(clock: play.clock)
  }

  func run() async throws {
    let scenarios = try ScenarioFiles.read(ScenarioFiles.find(paths)).filter(play.selects)
    guard !scenarios.isEmpty else { throw ValidationError("--only: no scenario has such a name; --list shows them") }
    if play.list { return Self.list(scenarios) }
    let rehearsal = Rehearsal(scenarios, player: player, seeds: play.seeds, isSeeded: isSeeded)
    let baseline = try reports.readBaseline(clock: rehearsal.clock)
    let desk = ReportDesk(try reports.open(), baseline: baseline)
    let gone = baseline?.gone(from: scenarios, depth: rehearsal.depth).filter { play.selects($0.scenario) } ?? []
    try await perform(rehearsal, desk, gone)
  }

  private var player: Rehearsal.Player {
    command.queueRehearsal(timeScale: play.timeScale).map { .queue($0, parallel: play.parallel) }
      ?? command.rehearsal(timeScale: play.timeScale).map { .command($0, parallel: play.parallel) }
      ?? .engine(play.clock, timeScale: play.timeScale, parallel: play.parallel)
  }

  private var isSeeded: Bool { play.repeat > 1 || play.clock != .real || command.killRandom != nil }

  /// Plays until all is done, or until a signal comes: then what runs is ended, and this process too.
  private func perform(_ rehearsal: Rehearsal, _ desk: ReportDesk, _ gone: [ScenarioResult]) async throws {
    let signals = Signals()
    let work = Task { await rehearsal.perform(desk, gone) }
    let watch = Task {
      let number = await signals.first()
      if number != nil { work.cancel() }
      return number
    }
    let results = await work.value
    watch.cancel()
    if let number = await watch.value {
      desk.interrupt()
      Signals.die(by: number)
    }
    let isWritten = desk.end(results)
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
