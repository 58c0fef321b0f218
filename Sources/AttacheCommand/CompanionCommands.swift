import ArgumentParser

/// The subcommands that the executable beside `attache` implements, in the order of the help.
let companionCommands: [(name: String, abstract: String)] = [
  ("batch", "Attach media to the payloads of a file; resume after an interruption."),
  ("enqueue", "Add payloads to a queue."),
  ("work", "Process a queue: attach media to its payloads."),
  ("deliver", "Deliver the results of a queue to a command, an HTTP endpoint or Apple."),
  ("results", "Write the results of a queue, in the order of its payloads."),
  ("queue", "Show the state of a queue."),
  ("retry", "Requeue payloads that fell back."),
  ("cancel", "End payloads that are not delivered yet."),
  ("pause", "Pause working and delivering a queue, for all machines at once."),
  ("resume", "End the pause of a queue."),
  ("purge", "Delete payloads with old results."),
  ("push", "Send one payload to Apple and print the answer."),
  ("preview", "Write a web page that shows notifications as people see them."),
  ("rehearse", "Play scenarios of a failing network, with attache or any other filter."),
  ("extension", "Build an iOS service extension, unchanged, for --extension."),
  ("record", "Run the filter and record its input and network as a scenario for attache rehearse."),
  ("origin", "Serve a folder with faults, or play Apple's or Google's push service, for manual tests."),
]

/// The subcommand in a row of the table, from 0, for the help: ArgumentParser needs a type for each subcommand.
struct ListedCommand<let row: Int>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: companionCommands[row].name, abstract: companionCommands[row].abstract)
  }
}
