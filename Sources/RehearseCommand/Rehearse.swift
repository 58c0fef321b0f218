import ArgumentParser

@main
struct RehearseTool: AsyncParsableCommand {
  /// The user sees one command: this executable is entered as `attache rehearse`, `attache record` and `attache origin`.
  static let configuration = CommandConfiguration(commandName: "attache", subcommands: [RunScenarios.self, Record.self, Origin.self])
}
