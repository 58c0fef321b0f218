import ArgumentParser
import AttacheArguments
import AttacheQueue

/// `attache purge`: removes payloads with old results.
struct Purge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete payloads whose results are old and delivered, and release their attachments.")

  @OptionGroup var queue: QueueOptions

  @Option(help: ArgumentHelp("How old a result must be, such as 12h or 7d.", valueName: "time"))
  var olderThan: DurationArgument

  @Flag(help: "Also delete payloads whose results were neither delivered nor read.")
  var includeUndelivered = false

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    var count = 0
    try orExit { () throws(QueueError) in
      let holds = try ReleasedHolds(of: opened)
      try holds.remove { () throws(QueueError) in
        let purged = try opened.purge(olderThan: olderThan.duration, includesUndelivered: includeUndelivered)
        count = purged.payloads
        return purged.released
      }
      try holds.removeUnlisted(of: queue.location)
    }
    ErrorOutput.write("attache: \(count) payload\(count == 1 ? "" : "s") removed\n")
  }
}
