import ArgumentParser
import AttacheArguments

@main
struct PreviewTool: ParsableCommand {
  /// The user sees one command: this executable runs as `attache preview`.
  static let configuration = CommandConfiguration(commandName: "attache", version: versionText, subcommands: [Preview.self])

  static func main() {
    StandardDescriptors.prepare()
    DescriptorLimit.require(32)
    CommandThread.require(4)
    runParsed()
  }
}
