import ArgumentParser
import Attache

/// `attache record`.
struct RecordCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Run the filter and record its input and network as a scenario for attache rehearse.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []

  func run() throws {
    // This must run while the process has one thread. The companion inherits the cleaned
    // environment.
    AmbientEnvironment.removeUnsafeVariables()
    try Self.become(arguments)
  }
}
