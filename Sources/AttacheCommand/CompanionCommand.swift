import ArgumentParser
import AttacheArguments

/// A subcommand that lives in an executable beside, with its flags and its help.
protocol CompanionCommand: ParsableCommand {
  /// The executable's name.
  static var companion: String { get }
  /// Everything behind the subcommand's name.
  var arguments: [String] { get }
}

extension CompanionCommand {
  func run() throws {
    try Self.become(arguments)
  }

  /// Becomes the executable beside; returns only by an error.
  static func become(_ arguments: [String]) throws {
    let failure = Companion.become(companion, [_commandName] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(ExitStatus.unavailable)
  }
}

/// A subcommand of `attache-rehearse`, which needs servers, YAML and XML.
protocol RehearsalCommand: CompanionCommand {}

extension RehearsalCommand {
  static var companion: String { "attache-rehearse" }
}

/// A subcommand of `attache-queue`, which needs SQLite's library in Swift, and Foundation with it.
protocol QueueCommand: CompanionCommand {}

extension QueueCommand {
  static var companion: String { "attache-queue" }
}
