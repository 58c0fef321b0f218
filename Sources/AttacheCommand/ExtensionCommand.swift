import ArgumentParser

/// `attache extension`: runs in the companion executable, as the rehearsals of extensions do.
struct ExtensionCommand: RehearsalCommand {
  static let configuration = CommandConfiguration(
    commandName: "extension", abstract: "Build an iOS service extension, unchanged, for --extension.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}
