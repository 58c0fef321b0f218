import ArgumentParser

/// `attache enqueue`: in the executable beside.
struct EnqueueCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "enqueue", abstract: "Add payloads to a queue.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache work`: in the executable beside.
struct WorkCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "work", abstract: "Work a queue: give its payloads their media.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache deliver`: in the executable beside.
struct DeliverCommand: QueueCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliver", abstract: "Deliver the results of a queue to a command, an HTTP endpoint or Apple.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache results`: in the executable beside.
struct ResultsCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "results", abstract: "Write the results of a queue, in the order enqueued.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache queue`: in the executable beside.
struct QueueStateCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "queue", abstract: "Say how a queue stands.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache retry`: in the executable beside.
struct RetryCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: "Have payloads that fell back be worked again.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache purge`: in the executable beside.
struct PurgeCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "purge", abstract: "Remove payloads whose results are old.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache batch`: in the executable beside.
struct BatchCommand: QueueCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Give the payloads of a file their media, and go on after a kill where it was.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}

/// `attache push`: in the executable beside.
struct PushCommand: QueueCommand {
  static let configuration = CommandConfiguration(commandName: "push", abstract: "Send one payload to Apple by hand, and print the answer.")

  @Argument(parsing: .captureForPassthrough, help: "--help shows what it takes.")
  var arguments: [String] = []
}
