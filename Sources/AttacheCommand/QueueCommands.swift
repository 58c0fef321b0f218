import ArgumentParser

/// `attache enqueue`: runs in the companion executable.
struct EnqueueCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "enqueue", abstract: "Add payloads to a queue.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache work`: runs in the companion executable.
struct WorkCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "work", abstract: "Process a queue: attach media to its payloads.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache deliver`: runs in the companion executable.
struct DeliverCommand: QueueCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliver", abstract: "Deliver the results of a queue to a command, an HTTP endpoint or Apple.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache results`: runs in the companion executable.
struct ResultsCommand: QueueCommand {
  static let configuration = CommandConfiguration(
    commandName: "results", abstract: "Write the results of a queue, in the order of its payloads.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache queue`: runs in the companion executable.
struct QueueStateCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "queue", abstract: "Show the state of a queue.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache retry`: runs in the companion executable.
struct RetryCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: "Requeue payloads that fell back.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache purge`: runs in the companion executable.
struct PurgeCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "purge", abstract: "Delete payloads with old results.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache batch`: runs in the companion executable.
struct BatchCommand: QueueCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Attach media to the payloads of a file; resume after an interruption.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}

/// `attache push`: runs in the companion executable.
struct PushCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "push", abstract: "Send one payload to Apple and print the answer.")

  @Argument(parsing: .captureForPassthrough, help: "Use --help for its flags.")
  var arguments: [String] = []
}
