internal import Attache
internal import Glibc

/// One run of a command, on one thread: feeds it, listens to it, and ends it when it must.
struct CommandSession {
  struct Script: Sendable {
    var lines: [[UInt8]]
    var endsWithLineFeed = true
    var limits: CommandTiming.Limits
    var stop: StopScript?
    var kill: CommandKill?
    /// Whether the memory and descriptors of the group are looked at, which means to read all of
    /// /proc now and then.
    var watchesResources = false
  }

  private let script: Script
  private let group: CommandGroup
  private var feed: CommandFeed
  private var output: CommandSink
  private var errors: CommandSink
  private var seen: CommandTranscript
  private var isFed = false
  private var signalsSent = 0
  private var isOver = false
  private var nextLook: MonotonicInstant
  private var lastPiece: MonotonicInstant

  init(_ script: Script, group: CommandGroup, pipes: CommandLaunch.Pipes) {
    (self.script, self.group) = (script, group)
    feed = CommandFeed(pipes.input, lines: script.lines, endsWithLineFeed: script.endsWithLineFeed)
    output = CommandSink(pipes.output)
    errors = CommandSink(pipes.errors, keeps: 16 << 10)
    let start = MonotonicInstant.now
    seen = CommandTranscript(timing: CommandTiming(count: script.lines.count, limits: script.limits, start: start), start: start)
    nextLook = start
    lastPiece = start
  }

  /// Runs the command to its end, one way or the other; nothing of its group lives after that.
  mutating func run() -> CommandTranscript {
    script.kill?.happened(.started(group))
    while !isOver {
      // In this order: what it wrote before it ended is read after that was seen.
      seen.exit = group.exit
      exchange()
      decide()
      if !isOver { wait() }
    }
    seen.isKilled = script.kill?.isDone ?? false
    seen.end = .now
    close()
    return seen
  }

  /// What can be written and read at once.
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

  /// A last line without an ending is a line only when the input ends. Who is told to stop is told
  /// in the middle of its input.
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

  /// One SIGTERM to stop, a second one, once the first was taken, to cancel. Before a command
  /// reads, it may not yet know what to do with them.
  private mutating func stopIfDue(at now: MonotonicInstant) {
    guard let stop = script.stop, let begin = seen.timing.taken.first, now >= begin.advanced(by: stop.at),
      signalsSent < (stop.isCancellation ? 2 : 1)
    else { return }
    guard signalsSent == 0 || !CommandProcess.all(in: group.leader).contains(where: { $0.isPending(SIGTERM) }) else { return }
    group.ask()
    signalsSent += 1
    seen.isStopped = true
  }

  private mutating func look(at now: MonotonicInstant) {
    seen.resources.look(at: group.leader)
    seen.isMeasured = true
    nextLook = now.advanced(by: .milliseconds(20))
  }

  /// Beyond this, a command does not answer, it writes and writes: 16 KB a payload is what four
  /// times APNs' largest takes.
  private var mostOutput: Int {
    2 * script.lines.reduce(0) { $0 + $1.count } + 16 << 10 * script.lines.count + 1 << 20
  }

  /// Waits for something to do: a millisecond at most while the instant counts at which bytes leave
  /// the pipe, which nothing tells.
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
    group.end()
    listen(at: .now)
    // What follows the last line feed came as a line, too.
    if let last = output.bytes.last, last != UInt8(ascii: "\n") { seen.timing.answer(at: lastPiece) }
    feed.close()
    output.close()
    errors.close()
    (seen.output, seen.errors) = (output.bytes, errors.bytes)
  }
}
