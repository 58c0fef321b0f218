import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc

/// `attache queue`: how a queue stands.
struct State: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Say how a queue stands: how many payloads are in which state, how old, and how fast they are worked.")

  @OptionGroup var queue: QueueOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  @Flag(help: "Look again each second, until SIGTERM, SIGINT or SIGHUP: on a terminal in place, else line by line.")
  var watch = false

  func run() throws {
    if watch { StopSignals.block() }
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    guard watch else {
      let counts = try orExit { () throws(QueueError) in try opened.counts() }
      let status = QueueStatus(queue.queue, counts, rate: counts.recentRate)
      return try StandardOutput.write(json ? status.json : status.lines.map { $0 + "\n" }.joined())
    }
    let watch = try orExit(LogFormat.text.logger(), ExitStatus.software) { () throws(SystemError) in try QueueWatch(opened, queue.queue) }
    StopSignals.onEach({ watch.stop() })
    do {
      try watch.run(show)
    } catch let error as QueueError {
      try orExit { () throws(QueueError) in throw error }
    }
  }

  /// What shows how the queue stands, in the way that standard output takes it.
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
