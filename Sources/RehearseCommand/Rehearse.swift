import ArgumentParser

@main
struct RehearseTool: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "attache-rehearse")
}
