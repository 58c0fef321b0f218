import ArgumentParser
import AttacheArguments

/// The command `attache`; without a subcommand it is the filter.
@main
struct AttacheTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attache",
    abstract: "Give push payloads their media: read payloads, download what they name, attach what is accepted.",
    discussion: """
      Payloads are read from standard input, one JSON object a line, and written to standard output in the same order. A payload that asks for \
      media ("mutable-content": 1) gains one member with its attachments; whatever goes wrong, the original leaves byte for byte and in time. \
      "attache filter --help" lists the flags.
      """,
    version: attacheVersion,
    subcommands: [
      FilterCommand.self, InspectCommand.self, LintCommand.self, DialectsCommand.self, StoreCommand.self, ReasonsCommand.self,
      BatchCommand.self, EnqueueCommand.self, WorkCommand.self, ResultsCommand.self, QueueStateCommand.self, RetryCommand.self,
      PurgeCommand.self, RehearseCommand.self, RecordCommand.self, OriginCommand.self,
    ],
    defaultSubcommand: FilterCommand.self)

  static func main() {
    StandardDescriptors.takeClosed()
    do {
      try companionAskedForHelp?.become(["--help"])
    } catch {
      exit(withError: error)
    }
    main(nil)
  }

  /// The command of `attache help COMMAND`, when its help is the companion's to give.
  private static var companionAskedForHelp: (any CompanionCommand.Type)? {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.first == "help", let name = arguments.dropFirst().first else { return nil }
    return configuration.subcommands.first { $0._commandName == name } as? any CompanionCommand.Type
  }
}
