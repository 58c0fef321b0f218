import ArgumentParser

/// `attache enqueue`.
struct EnqueueCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "enqueue", abstract: "Add payloads to a queue.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache work`.
struct WorkCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "work", abstract: "Process a queue: attach media to its payloads.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache deliver`.
struct DeliverCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliver", abstract: "Deliver the results of a queue to a command, an HTTP endpoint or Apple.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache results`.
struct ResultsCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "results", abstract: "Write the results of a queue, in the order of its payloads.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache queue`.
struct QueueStateCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "queue", abstract: "Show the state of a queue.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache retry`.
struct RetryCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: "Requeue payloads that fell back.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache purge`.
struct PurgeCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "purge", abstract: "Delete payloads with old results.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache batch`.
struct BatchCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Attach media to the payloads of a file; resume after an interruption.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache push`.
struct PushCommand: CompanionCommand {
  static let configuration = CommandConfiguration(commandName: "push", abstract: "Send one payload to Apple and print the answer.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache preview`.
struct PreviewCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview", abstract: "Write a web page that shows notifications as people see them.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache rehearse`.
struct RehearseCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Play scenarios of a failing network, with attache or any other filter.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache extension`.
struct ExtensionCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "extension", abstract: "Build an iOS service extension, unchanged, for --extension.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache origin`.
struct OriginCommand: CompanionCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "Serve a folder on loopback, with faults selected by the path, for manual tests.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}
