import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc
import Logging

/// `attache queue`: shows the state of a queue, or the history of a payload.
struct State: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue",
    abstract: "Show the state of a queue: how many payloads are in which state, how old they are, and how fast they are processed.",
    discussion: """
      With --line or --key, show the history of one payload: when it was enqueued, each failed attempt, its result, and its delivery. With --dead, show that \
      of each payload whose workers or senders died.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  @Flag(help: "Show the state each second, until SIGTERM, SIGINT or SIGHUP: in place on a terminal, otherwise line by line.")
  var watch = false

  @Option(help: ArgumentHelp("Show the history of the payload of this line: the first that was enqueued is 1.", valueName: "n"))
  var line: Int64?

  @Option(help: ArgumentHelp("Show the history of the payload with this key (enqueue --dedupe).", valueName: "key"))
  var key: String?

  @Flag(help: "List the payloads that ended their workers or their senders.")
  var dead = false

  func validate() throws {
    guard Validation.isOn else { return }
    let choices = [line != nil, key != nil, dead, watch].count { $0 }
    guard choices <= 1 else { throw ValidationError("choose one of --line, --key, --dead and --watch.") }
  }

  func run() throws {
    if watch { StopSignals.block() }
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    let names = line.map { [PayloadName.number($0)] } ?? key.map { PayloadKey.candidates(of: $0).map(PayloadName.key) }
    if let names { return try show(names, opened) }
    if dead { return try showDead(opened) }
    guard watch else {
      let counts = try orExit { () throws(QueueError) in try opened.counts() }
      let status = QueueStatus(queue.location, counts, rate: counts.recentRate)
      return try StandardOutput.write(json ? status.json : status.lines.map { $0 + "\n" }.joined())
    }
    let watch = try orExit(LogFormat.text.logger(), ExitStatus.software) { try QueueWatch(opened, queue.location) }
    StopSignals.onEach({
      opened.stopWaiting()
      watch.stop()
    })
    do {
      try watch.run(show)
    } catch let error as QueueError {
      try orExit { () throws(QueueError) in throw error }
    }
  }

  /// Writes the history of the payload that has one of the names.
  private func show(_ names: [PayloadName], _ opened: any PayloadQueue) throws {
    let found = try orExit { () throws(QueueError) -> [PayloadHistory] in
      var found: [PayloadHistory] = []
      for name in names where found.isEmpty { found += try opened.history(of: name).map { [$0] } ?? [] }
      return found
    }
    guard let history = found.first else {
      LogFormat.text.logger().error("\(queue.location.message): has no such payload; a purged payload has no history")
      throw ExitCode(ExitStatus.unavailable)
    }
    try StandardOutput.write(json ? history.json : history.lines.map { $0 + "\n" }.joined())
  }

  /// Writes the history of each payload that ended its workers or its senders.
  private func showDead(_ opened: any PayloadQueue) throws {
    var last: Int64 = 0
    while true {
      let page = try orExit { () throws(QueueError) in try opened.poisoned(after: last, limit: 1_000) }
      guard let end = page.last?.id else { return }
      for history in page { try StandardOutput.write(json ? history.json : history.lines.map { $0 + "\n" }.joined()) }
      last = end
    }
  }

  /// The function that writes a queue's status in the form that suits standard output.
  private var show: (QueueStatus) throws -> Void {
    if json { return { try StandardOutput.write($0.json) } }
    guard TerminalStyle.takesEscapes(STDOUT_FILENO) else { return { try StandardOutput.write($0.line + "\n") } }
    var height = 0
    return { status in
      try StandardOutput.write(QueueWatch.redrawn(status.lines, over: height, width: TerminalStyle.width(STDOUT_FILENO)))
      height = status.lines.count
    }
  }
}
