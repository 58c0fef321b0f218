import ArgumentParser

/// `attache rehearse`: runs in the companion executable, because it needs servers, YAML and XML.
struct RehearseCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Play scenarios of a failing network, with attache or any other filter.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}
