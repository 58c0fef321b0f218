import ArgumentParser
import AttacheArguments
import AttacheQueue

/// `attache cancel`: ends payloads that are not delivered.
struct Cancel: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "End payloads that are not delivered yet, so that nobody gets them.",
    discussion: """
      A payload that a worker or a deliverer has at the moment is left out; repeat the command. A cancelled payload stays in the queue with its \
      history. `attache retry --state cancelled` processes it again.
      """)

  @OptionGroup var queue: QueueOptions
  @OptionGroup(title: "Which payloads") var which: FilterOptions

  @Flag(help: "Cancel every payload that is not delivered.")
  var all = false

  @Option(help: ArgumentHelp("Why, in one line for the payloads' histories.", valueName: "text"))
  var why = "cancelled"

  @OptionGroup var dry: DryRunOption

  func validate() throws {
    guard Validation.isOn else { return }
    let isEmpty = which.filter(.cancellation).isEmpty
    guard isEmpty == all else {
      throw ValidationError(
        all
          ? "--all takes no other selection; remove one."
          : "select payloads, by --line, --state, --reason, --answer, --key or --since, or name --all.")
    }
    guard which.state.map({ [.ready, .waiting, .leased, .done].contains($0) }) != false else {
      throw ValidationError("--state must be ready, waiting, leased or done: the delivery of the others is over.")
    }
  }

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    let holds = try orExit { () throws(QueueError) in try ReleasedHolds(of: opened) }
    let why = why.onOneLine
    try dry.run(which.filter(.cancellation), of: opened, "cancelled") { ids throws(QueueError) in
      var count = 0
      try holds.remove { () throws(QueueError) in
        let (cancelled, released) = try opened.cancel(ids, why)
        count = cancelled
        return released
      }
      return count
    }
  }
}
