import ArgumentParser

/// `attache origin`: runs in the companion executable, because it needs a server.
struct OriginCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "Serve a folder on loopback, with faults selected by the path, for manual tests.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}
