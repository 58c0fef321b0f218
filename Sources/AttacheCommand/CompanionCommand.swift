import ArgumentParser
import AttacheArguments

/// A subcommand that lives in the executable beside, `attache-rehearse`, with its flags and its help.
protocol CompanionCommand: ParsableCommand {
  /// Everything behind the subcommand's name.
  var arguments: [String] { get }
}

extension CompanionCommand {
  func run() throws {
    try Self.become(arguments)
  }

  /// Becomes the executable beside; returns only by an error.
  static func become(_ arguments: [String]) throws {
    let failure = Companion.become("attache-rehearse", [_commandName] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(ExitStatus.unavailable)
  }
}
