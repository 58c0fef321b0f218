import ArgumentParser
import Attache
import AttacheArguments

/// A subcommand that a companion executable implements, with its flags and its help.
protocol CompanionCommand: ParsableCommand {
  /// The executable's name.
  static var companion: String { get }
  /// The command that installs the executable.
  static var installer: String { get }
  /// All arguments after the subcommand's name.
  var arguments: [String] { get }
}

extension CompanionCommand {
  func run() throws {
    try Self.become(arguments)
  }

  /// Replaces this process with the companion executable. Returns only by throwing.
  static func become(_ arguments: [String]) throws {
    let failure = Companion.become(companion, [_commandName] + arguments, installer: installer)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(ExitStatus.unavailable)
  }
}

/// A subcommand of `attache-rehearse`, which needs servers, YAML and XML.
protocol RehearsalCommand: CompanionCommand {}

extension RehearsalCommand {
  static var companion: String { "attache-rehearse" }
  static var installer: String { "scripts/install --rehearse" }
}

/// `attache preview`: runs in the companion executable, because it needs a template engine and
/// therefore Foundation.
struct PreviewCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview", abstract: "Write a web page that shows notifications as people see them.")
  static let companion = "attache-preview"
  static let installer = "scripts/install"

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// A subcommand of `attache-queue`, which needs SQLite's Swift library and therefore Foundation.
protocol QueueCommand: CompanionCommand {}

extension QueueCommand {
  static var companion: String { "attache-queue" }
  static var installer: String { "scripts/install" }
}
