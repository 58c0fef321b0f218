import ArgumentParser

/// `attache origin`: in the executable beside, since it needs a server.
struct OriginCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "Serve a folder on loopback, with faults chosen by path, to try things by hand.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}
