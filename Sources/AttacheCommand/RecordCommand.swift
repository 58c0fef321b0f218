import ArgumentParser

/// `attache record`: in the executable beside, since it needs a YAML writer.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Run the filter, and write what it met as a scenario for attache rehearse.")

  @Argument(parsing: .captureForPassthrough, help: "What attache-rehearse record takes; --help shows it.")
  var arguments: [String] = []

  func run() throws {
    let failure = Companion.become("attache-rehearse", ["record"] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(69)
  }
}
