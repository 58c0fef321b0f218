import ArgumentParser

@main
struct AttacheTool: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "attache")
}
