import ArgumentParser
import AttacheArguments

/// The command `attache`. Without a subcommand it runs the filter.
@main
struct AttacheTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attache",
    abstract: "Add media to push payloads: read payloads, download the media that they name, attach what is accepted.",
    discussion: """
      Payloads are read from standard input, one JSON object per line, and written to standard output in the same order. A payload that asks for \
      media ("mutable-content": 1) gains one member with its attachments; whatever goes wrong, the original goes out byte for byte and in time. \
      "attache filter --help" lists the flags.
      """,
    version: versionText,
    subcommands: everySubcommand,
    defaultSubcommand: FilterCommand.self)

  private static let everySubcommand: [any ParsableCommand.Type] = [
    FilterCommand.self, BatchCommand.self, EnqueueCommand.self, WorkCommand.self, DeliverCommand.self, ResultsCommand.self,
    QueueStateCommand.self, RetryCommand.self, PurgeCommand.self, PushCommand.self, InspectCommand.self, LintCommand.self,
    PreviewCommand.self,
    DialectsCommand.self, StoreCommand.self,
    ReasonsCommand.self, RehearseCommand.self, ExtensionCommand.self, RecordCommand.self, OriginCommand.self,
  ]

  /// The names of the subcommands, as users type them.
  static var commandNames: [String] { everySubcommand.map { $0._commandName } }

  static func main() {
    StandardDescriptors.prepare()
    do {
      if let word = unknownCommandOfHelp { throw ValidationError(word.advice) }
      try companionAskedForHelp?.become(["--help"])
    } catch {
      exit(withError: error)
    }
    runParsed()
  }

  /// The first word of `attache help COMMAND SUBCOMMAND` that is no command; ArgumentParser would show the help of the command
  /// around it.
  private static var unknownCommandOfHelp: StrayWord? {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.first == "help" else { return nil }
    var commands = everySubcommand
    for word in arguments.dropFirst().prefix(while: { !$0.hasPrefix("-") }) where !commands.isEmpty {
      guard let command = commands.first(where: { $0._commandName == word }) else {
        return StrayWord(word, of: commands.map { $0._commandName })
      }
      commands = command.configuration.subcommands
    }
    return nil
  }

  /// The command of `attache help COMMAND`, when a companion executable prints that help.
  private static var companionAskedForHelp: (any CompanionCommand.Type)? {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.first == "help", let name = arguments.dropFirst().first else { return nil }
    return everySubcommand.first { $0._commandName == name } as? any CompanionCommand.Type
  }
}
