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
    version: asksForVersion ? versionText : attacheVersion,
    subcommands: isFilterRun ? [FilterCommand.self] : everySubcommand,
    defaultSubcommand: FilterCommand.self)

  private static let everySubcommand: [any ParsableCommand.Type] = [
    FilterCommand.self, BatchCommand.self, EnqueueCommand.self, WorkCommand.self, DeliverCommand.self, ResultsCommand.self,
    QueueStateCommand.self, RetryCommand.self, PurgeCommand.self, PushCommand.self, InspectCommand.self, LintCommand.self,
    DialectsCommand.self,
    StoreCommand.self,
    ReasonsCommand.self, RehearseCommand.self, RecordCommand.self, OriginCommand.self,
  ]

  /// What users call the subcommands.
  static var commandNames: [String] { everySubcommand.map { $0._commandName } }

  /// Whether the version will be shown: a filter's start does not ask the libraries for theirs.
  private static var asksForVersion: Bool { CommandLine.arguments.contains("--version") }

  /// Whether the arguments are the filter's alone: the parser then builds no other subcommand's
  /// flags, so that a filter's start does not pay for each further command (a sixtieth of it for
  /// the fifteen that there are).
  private static var isFilterRun: Bool {
    let arguments = CommandLine.arguments.dropFirst()
    let aboutAll: Set = ["-h", "-help", "--help", "--help-hidden", "--version", "--generate-completion-script", "--experimental-dump-help"]
    return arguments.first.map { $0 == "filter" || $0.hasPrefix("-") } ?? true && aboutAll.isDisjoint(with: arguments)
  }

  static func main() {
    StandardDescriptors.prepare()
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
    return everySubcommand.first { $0._commandName == name } as? any CompanionCommand.Type
  }
}
