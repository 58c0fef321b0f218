import ArgumentParser

/// `attache origin`: in the executable beside, since it needs a server.
struct OriginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "Serve a folder on loopback, with faults chosen by path, to try things by hand.")

  @Argument(parsing: .captureForPassthrough, help: "What attache-rehearse origin takes; --help shows it.")
  var arguments: [String] = []

  func run() throws {
    let failure = Companion.become("attache-rehearse", ["origin"] + arguments)
    ErrorOutput.write("attache: \(failure)\n")
    throw ExitCode(69)
  }
}
