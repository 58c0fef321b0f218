import ArgumentParser

@main
struct RehearseTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "attache-rehearse", subcommands: [Origin.self, Record.self])
}
