import ArgumentParser
import Attache

/// `attache record`: in the executable beside, since it needs a YAML writer.
struct RecordCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Run the filter, and write what it met as a scenario for attache rehearse.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []

  func run() throws {
    // While there is no other thread; what is entered here keeps what is left.
    AmbientEnvironment.removeUnsafeVariables()
    try Self.become(arguments)
  }
}
