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

  /// For `attache rehearse`, whose queues on a server must not stay.
  @Flag(help: ArgumentHelp("Remove the queue itself with everything that is left in it.", visibility: .hidden))
  var dropQueue = false

  func run() throws {
    let opened = try queue.open(creates: false)
    let result = Result { try purge(opened) }
    opened.close()
    let count = try result.get()
    if dropQueue { try orExit { () throws(QueueError) in try queue.location.remove() } }
    ErrorOutput.write("attache: \(count) payload\(count == 1 ? "" : "s") removed\n")
  }

  /// - Returns: the number of payloads that were removed.
  private func purge(_ opened: any PayloadQueue) throws -> Int {
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
    return count
  }
}
