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

  /// `ListedCommand<0>` to `<8>` are about queues, `<9>` is `preview`, and `<10>` to `<13>` are about rehearsals.
  private static let everySubcommand: [any ParsableCommand.Type] = [
    FilterCommand.self, ListedCommand<0>.self, ListedCommand<1>.self, ListedCommand<2>.self, ListedCommand<3>.self, ListedCommand<4>.self,
    ListedCommand<5>.self, ListedCommand<6>.self, ListedCommand<7>.self, ListedCommand<8>.self, InspectCommand.self, LintCommand.self,
    ListedCommand<9>.self, DialectsCommand.self, StoreCommand.self, ReasonsCommand.self, ListedCommand<10>.self, ListedCommand<11>.self,
    ListedCommand<12>.self, ListedCommand<13>.self,
  ]

  /// The names of the subcommands, as users type them.
  static var commandNames: [String] { everySubcommand.map { $0._commandName } }

  static func main() {
    StandardDescriptors.prepare()
    let words = CommandLine.arguments.dropFirst()
    let isHelp = words.first == "help"
    if let name = (isHelp ? words.dropFirst() : words).first, companionCommands.contains(where: { $0.name == name }) {
      Companion.become([name] + (isHelp ? ["--help"] : words.dropFirst()))
    }
    if let word = unknownCommandOfHelp { exit(withError: ValidationError(word.advice)) }
    // The tree of commands would make the filter's flags several times. It is asked only when the filter cannot read its words: it
    // explains what is wrong.
    if let filter = try? FilterCommand.parse(Array(words.first == "filter" ? words.dropFirst() : words)) {
      do { try filter.run() } catch { exit(withError: error) }
    } else {
      runParsed()
    }
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
}
