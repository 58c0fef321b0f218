import ArgumentParser

/// `attache origin`: runs in the companion executable, because it needs a server.
struct OriginCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "Serve a folder on loopback, with faults chosen by path, for trials by hand.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}
