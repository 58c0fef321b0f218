import ArgumentParser
import Attache
import AttacheArguments

/// A subcommand that the executable beside `attache` implements, with its flags and its help.
protocol CompanionCommand: ParsableCommand {
  /// All arguments after the subcommand's name.
  var arguments: [String] { get }
}

extension CompanionCommand {
  func run() throws {
    try Self.become(arguments)
  }

  /// Replaces this process with the executable. Returns only by throwing.
  static func become(_ arguments: [String]) throws {
    let failure = Companion.become([_commandName] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(ExitStatus.unavailable)
  }
}
