internal import Attache
internal import Glibc

/// One run of a command, on one thread: writes its input, reads its output, and ends it when
/// necessary.
struct CommandSession {
  struct Script: Sendable {
    var lines: [[UInt8]]
    var endsWithLineFeed = true
    var limits: CommandTiming.Limits
    var stop: StopScript?
    var kill: CommandKill?
    /// Whether the memory and descriptors of the group are measured, which requires periodic reads
    /// of all of /proc.
    var watchesResources = false
  }

  private let script: Script
  private let group: StartedProcess
  private var feed: CommandFeed
  private var output: CommandSink
  private var errors: CommandSink
  private var seen: CommandTranscript
  private var isFed = false
  private var signalsSent = 0
  private var isOver = false
  private var nextLook: MonotonicInstant
  private var lastPiece: MonotonicInstant

  init(_ script: Script, group: StartedProcess, pipes: ProcessLaunch.Pipes) {
    (self.script, self.group) = (script, group)
    feed = CommandFeed(pipes.input, lines: script.lines, endsWithLineFeed: script.endsWithLineFeed)
    output = CommandSink(pipes.output)
    errors = CommandSink(pipes.errors, keeps: 16 << 10)
    let start = MonotonicInstant.now
    seen = CommandTranscript(timing: CommandTiming(count: script.lines.count, limits: script.limits, start: start), start: start)
    nextLook = start
    lastPiece = start
  }

  /// Runs the command until it ends or is ended. No process of its group is left afterwards.
  mutating func run() -> CommandTranscript {
    script.kill?.happened(.started(group))
    while !isOver {
      // The order matters: everything written before the exit must be read after the exit was seen.
      seen.exit = group.end
      exchange()
      decide()
      if !isOver { wait() }
    }
    seen.isKilled = script.kill?.isDone ?? false
    seen.end = .now
    close()
    return seen
  }

  /// Writes and reads as much as is possible without waiting.
  private mutating func exchange() {
    feed.write()
    let now = MonotonicInstant.now
    seen.timing.take(feed.takenLines, at: now)
    if !isFed, seen.timing.isTaken {
      isFed = true
      script.kill?.happened(.fed)
    }
    listen(at: now)
    script.kill?.happened(.time(seen.start.duration(to: now)))
  }

  private mutating func listen(at now: MonotonicInstant) {
    let count = output.bytes.count
    for _ in 0..<output.read() {
      seen.timing.answer(at: now)
      script.kill?.happened(.line)
    }
    if output.bytes.count > count { lastPiece = now }
    _ = errors.read()
  }

  private mutating func decide() {
    let now = MonotonicInstant.now
    if script.watchesResources, now >= nextLook { look(at: now) }
    if !feed.isClosed, inputEnds(at: now) { endInput(at: now) }
    stopIfDue(at: now)
    seen.isFlooding = output.bytes.count > mostOutput
    isOver = seen.exit != nil || seen.isFlooding || now >= seen.timing.hangs
  }

  /// Returns whether the input should end now. A last line without a line feed is complete only
  /// when the input ends. A command that is stopped gets the signal before its input ends.
  private func inputEnds(at now: MonotonicInstant) -> Bool {
    if seen.timing.isTaken, !script.endsWithLineFeed { return true }
    if script.stop != nil, signalsSent == 0 { return false }
    return seen.timing.inputEnds(at: now) && (script.stop == nil || now >= seen.timing.lastDue)
  }

  private mutating func endInput(at now: MonotonicInstant) {
    if script.watchesResources { look(at: now) }
    seen.inputEnd = now
    seen.timing.endInput(at: now)
    feed.close()
  }

  /// Sends one SIGTERM to stop and, after the first was delivered, a second one to cancel. It waits
  /// until the command reads, because the command may not handle signals before that.
  private mutating func stopIfDue(at now: MonotonicInstant) {
    guard let stop = script.stop, let begin = seen.timing.taken.first, now >= begin.advanced(by: stop.at),
      signalsSent < (stop.isCancellation ? 2 : 1)
    else { return }
    guard signalsSent == 0 || !CommandProcess.all(in: group.identifier).contains(where: { $0.isPending(SIGTERM) }) else { return }
    group.ask()
    signalsSent += 1
    seen.isStopped = true
  }

  private mutating func look(at now: MonotonicInstant) {
    seen.resources.look(at: group.identifier)
    seen.isMeasured = true
    nextLook = now.advanced(by: .milliseconds(20))
  }

  /// The maximum size of the output, beyond which the command counts as flooding. It allows 16 KB
  /// per payload, which is four times APNs' largest.
  private var mostOutput: Int {
    2 * script.lines.reduce(0) { $0 + $1.count } + 16 << 10 * script.lines.count + 1 << 20
  }

  /// Waits for the next event. It waits for a millisecond at most while the time at which bytes
  /// leave the pipe matters, because there is no notification of that.
  private func wait() {
    let isCounting = !seen.timing.isTaken || script.stop != nil || script.kill != nil
    var requests = [
      pollfd(fd: feed.waitsFor, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&requests, nfds_t(requests.count), isCounting ? 1 : 10)
  }

  private mutating func close() {
    group.finish()
    listen(at: .now)
    // Bytes after the last line feed also count as a line.
    if let last = output.bytes.last, last != UInt8(ascii: "\n") { seen.timing.answer(at: lastPiece) }
    feed.close()
    output.close()
    errors.close()
    (seen.output, seen.errors) = (output.bytes, errors.bytes)
  }
}
