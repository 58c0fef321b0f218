import ArgumentParser
import AttacheArguments
import AttacheQueue

/// `attache pause`: pauses a queue for all of its workers and deliverers.
struct Pause: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause working and delivering a queue, for all machines at once, until attache resume.",
    discussion: """
      Workers and deliverers go on running. They finish what they have, and take nothing more within a quarter of a second. Payloads can be enqueued \
      meanwhile. The pause is in the queue, so it survives a restart of everything.
      """)

  @OptionGroup var queue: QueueOptions
  @OptionGroup var stages: StageOptions

  @Option(help: ArgumentHelp("Why, in one line for other operators.", valueName: "text"))
  var why: String?

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    try orExit { () throws(QueueError) in
      for stage in stages.chosen { try opened.pause(stage, why: why?.onOneLine) }
      try opened.sync()
    }
    for stage in stages.chosen { ErrorOutput.write("attache: the \(stage.name) is paused; attache resume ends the pause\n") }
  }
}

/// `attache resume`: ends a pause.
struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "End the pause of a queue.")

  @OptionGroup var queue: QueueOptions
  @OptionGroup var stages: StageOptions

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    for stage in stages.chosen {
      let wasPaused = try orExit { () throws(QueueError) in try opened.resume(stage) }
      ErrorOutput.write("attache: the \(stage.name) \(wasPaused ? "goes on" : "was not paused")\n")
    }
    try orExit { () throws(QueueError) in try opened.sync() }
  }
}

/// The flags that select what is paused.
struct StageOptions: ParsableArguments {
  @Flag(help: "Only the processing by workers.")
  var work = false

  @Flag(help: "Only the delivery.")
  var delivery = false

  /// Both, unless one is named.
  var chosen: [PayloadEvent.Stage] {
    PayloadEvent.Stage.allCases.filter { work == delivery || ($0 == .work ? work : delivery) }
  }
}
