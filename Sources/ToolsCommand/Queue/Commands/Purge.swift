import ArgumentParser
import AttacheArguments
import AttacheQueue

/// `attache purge`: removes payloads with old results.
struct Purge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete payloads whose results are old and delivered, and release their attachments.")

  @OptionGroup var queue: QueueOptions
  @OptionGroup(title: "Which payloads") var which: FilterOptions

  @Option(help: ArgumentHelp("How old a result must be, such as 12h or 7d.", valueName: "time"))
  var olderThan: DurationArgument

  @Flag(help: "Also delete payloads whose results were neither delivered nor read.")
  var includeUndelivered = false

  @OptionGroup var dry: DryRunOption

  /// For `attache rehearse`, whose queues on a server must not stay.
  @Flag(help: ArgumentHelp("Remove the queue itself with everything that is left in it.", visibility: .hidden))
  var dropQueue = false

  func run() throws {
    let opened = try queue.open(creates: false)
    let result = Result { try purge(opened) }
    opened.close()
    try result.get()
    if dropQueue { try orExit { () throws(QueueError) in try queue.location.remove() } }
  }

  private func purge(_ opened: any PayloadQueue) throws {
    let holds = try orExit { () throws(QueueError) in try ReleasedHolds(of: opened) }
    let filter = which.filter(.purge(olderThan: olderThan.duration, includesUndelivered: includeUndelivered))
    try dry.run(filter, of: opened, "removed") { ids throws(QueueError) in
      var count = 0
      try holds.remove { () throws(QueueError) in
        let (payloads, released) = try opened.purge(ids, includesUndelivered: includeUndelivered)
        count = payloads
        return released
      }
      return count
    }
    guard !dry.dryRun else { return }
    _ = try orExit { () throws(QueueError) in try holds.removeUnlisted(of: queue.location) }
  }
}
