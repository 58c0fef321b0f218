import ArgumentParser

/// `attache rehearse`: in the executable beside, since it needs servers, YAML and XML.
struct RehearseCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Rehearse scenarios of a failing network, with attache's engine or any other filter.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}
