import ArgumentParser
import AttacheArguments

@main
struct RehearseTool: AsyncParsableCommand {
  /// The user sees one command: this executable runs as `attache rehearse`, `attache extension`, `attache record`,
  /// `attache origin` and `attache reasons --findings`.
  static let configuration = CommandConfiguration(
    commandName: "attache", version: versionText,
    subcommands: [RunScenarios.self, ExtensionTool.self, Record.self, Origin.self, ListFindings.self])

  static func main() async {
    StandardDescriptors.prepare()
    DescriptorLimit.require(64)
    CommandThread.require(16)
    let command = parsed()
    do {
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { runParsed() }
    } catch {
      exit(withError: error)
    }
  }
}
