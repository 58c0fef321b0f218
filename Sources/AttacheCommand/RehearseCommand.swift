import ArgumentParser

/// `attache rehearse`: in the executable beside, since it needs servers, YAML and XML.
struct RehearseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Rehearse scenarios of a failing network, with attache's engine or any other filter.")

  @Argument(parsing: .captureForPassthrough, help: "What attache-rehearse rehearse takes; --help shows it.")
  var arguments: [String] = []

  func run() throws {
    let failure = Companion.become("attache-rehearse", ["rehearse"] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(69)
  }
}
