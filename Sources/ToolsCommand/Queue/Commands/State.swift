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
      With --line or --key, show the history of a payload: when it was enqueued, each failed attempt, its result, its delivery, its media, and who has it. \
      With --list, list payloads, in the order enqueued. Filters that no index has, such as --answer, look at a part of the queue, and say how far they \
      have looked; --continue goes on from there.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  @Flag(help: "Show the state each second, until SIGTERM, SIGINT or SIGHUP: in place on a terminal, otherwise line by line.")
  var watch = false

  @Flag(help: "List the payloads that the flags below select, one per line.")
  var list = false

  @OptionGroup(title: "Which payloads (with --list; --line or --key alone shows the history of those)") var which: FilterOptions

  @Option(help: ArgumentHelp("List at most this many.", valueName: "n"))
  var limit = 100

  @Option(name: .customLong("continue"), help: ArgumentHelp("List those behind this line.", valueName: "n"))
  var start: Int64 = 0

  func validate() throws {
    guard Validation.isOn else { return }
    try CountArgument.check(limit, "--limit")
    guard start >= 0 else { throw ValidationError("--continue must be at least 0.") }
    var others = which.filter(.all)
    (others.line, others.keys) = (nil, nil)
    guard list || others.isEmpty && start == 0 else { throw ValidationError("a selection needs --list.") }
    let choices = [which.line != nil, !list && !which.keys.isEmpty, list, watch].count { $0 }
    guard choices <= 1 else { throw ValidationError("choose one of --line, --key, --list and --watch.") }
  }

  func run() throws {
    if watch { StopSignals.block() }
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    if let line = which.line { return try show([line], opened) }
    let listing = PayloadListing(opened, queue.location, json: json)
    if list { return try listing.write(which.filter(.all), after: start, limit: limit) }
    if !which.keys.isEmpty {
      let (found, hasMore) = try listing.find(which.filter(.all), after: 0, limit: limit)
      try show(found.ids, opened)
      if hasMore { ErrorOutput.write("attache: there are more than \(limit) payloads; --list lists them, and --limit raises the number\n") }
      return
    }
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

  /// Writes the histories of payloads, with their bytes.
  private func show(_ ids: [Int64], _ opened: any PayloadQueue) throws {
    let histories = try orExit { () throws(QueueError) in try opened.histories(of: ids) }
    guard !histories.isEmpty else {
      LogFormat.text.logger().error("\(queue.location.message): has no such payload; a purged payload has no history")
      throw ExitCode(ExitStatus.unavailable)
    }
    for history in histories {
      let content = try orExit { () throws(QueueError) in try opened.content(of: history.id) }
      let lines = history.lines + (content.map(PayloadListing.lines) ?? [])
      try StandardOutput.write(json ? history.json(content) : lines.map { $0 + "\n" }.joined())
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
