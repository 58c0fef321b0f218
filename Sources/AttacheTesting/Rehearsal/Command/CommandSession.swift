internal import Attache
internal import Glibc

/// One run of a command, on one thread: writes its input, reads its output, and ends it when
/// necessary.
struct CommandSession {
  struct Script: Sendable {
    /// When the input ends, and when the command is ended.
    enum Pace: Sendable {
      /// The input of a filter ends when all lines are answered. The limits say when the filter
      /// counts as hung.
      case filter(CommandTiming.Limits)
      /// The input of any other command ends when it is written. The command is ended after this
      /// time.
      case tool(timeLimit: Duration)
    }

    var lines: [[UInt8]] = []
    var endsWithLineFeed = true
    var pace: Pace
    var stop: StopScript?
    var kill: CommandKill?
    /// Whether the memory and descriptors of the group are measured, which requires periodic reads
    /// of all of /proc.
    var watchesResources = false
  }

  private let script: Script
  private let group: StartedProcess
  private var pump: PipePump
  private var seen: CommandTranscript
  private var isFed = false
  private var signalsSent = 0
  private var isOver = false
  private var nextLook: MonotonicInstant
  private var lastPiece: MonotonicInstant

  /// Starts a command and runs it until it ends or is ended. No process of its group is left
  /// afterwards.
  ///
  /// - Parameter network: the network in which it starts; nil for this machine's network.
  static func run(_ script: Script, _ launch: ProcessLaunch, in network: NetworkNamespace?) async throws(StageError) -> CommandTranscript {
    try await launch.run(in: network) { group, pipes in
      var session = CommandSession(script, group: group, pipes: pipes)
      return session.run()
    }
  }

  private init(_ script: Script, group: StartedProcess, pipes: ProcessLaunch.Pipes) {
    (self.script, self.group) = (script, group)
    let ends = PipePump.Ends(input: pipes.input, output: pipes.output, errors: pipes.errors)
    pump = PipePump(ends, lines: script.lines, endsWithLineFeed: script.endsWithLineFeed)
    let start = MonotonicInstant.now
    seen = CommandTranscript(timing: CommandTiming(count: script.lines.count, limits: script.limits, start: start), start: start)
    nextLook = start
    lastPiece = start
  }

  private mutating func run() -> CommandTranscript {
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
    pump.feed()
    let now = MonotonicInstant.now
    seen.timing.take(pump.input.takenLines, at: now)
    if !isFed, seen.timing.isTaken {
      isFed = true
      script.kill?.happened(.fed)
    }
    listen(at: now)
    if seen.exit == nil { script.kill?.happened(.time(seen.start.duration(to: now))) }
  }

  private mutating func listen(at now: MonotonicInstant) {
    let count = pump.output.bytes.count
    for _ in 0..<pump.read() {
      seen.timing.answer(at: now)
      script.kill?.happened(.line)
    }
    if pump.output.bytes.count > count { lastPiece = now }
  }

  private mutating func decide() {
    let now = MonotonicInstant.now
    if script.watchesResources, now >= nextLook { look(at: now) }
    if !pump.input.isClosed, inputEnds(at: now) { endInput(at: now) }
    stopIfDue(at: now)
    seen.isFlooding = pump.output.bytes.count > mostOutput
    isOver = seen.exit != nil || seen.isFlooding || now >= lastMoment
  }

  /// Returns whether the input should end now. A last line without a line feed is complete only
  /// when the input ends. A command that is stopped gets the signal before its input ends.
  private func inputEnds(at now: MonotonicInstant) -> Bool {
    if case .tool = script.pace { return pump.input.isWritten }
    if seen.timing.isTaken, !script.endsWithLineFeed { return true }
    if script.stop != nil, signalsSent == 0 { return false }
    return seen.timing.inputEnds(at: now) && (script.stop == nil || now >= seen.timing.lastDue)
  }

  private mutating func endInput(at now: MonotonicInstant) {
    if script.watchesResources { look(at: now) }
    seen.inputEnd = now
    seen.timing.endInput(at: now)
    pump.closeInput()
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
    var resources = seen.resources ?? CommandResources()
    resources.look(at: group.identifier)
    seen.resources = resources
    nextLook = now.advanced(by: .milliseconds(20))
  }

  /// The moment at which the command is ended.
  private var lastMoment: MonotonicInstant {
    switch script.pace {
    case .filter: seen.timing.hangs
    case .tool(let timeLimit): seen.start.advanced(by: timeLimit)
    }
  }

  /// The maximum size of the output, in bytes, beyond which a filter counts as flooding: twice the
  /// input, 16 KiB per payload (four times APNs' largest) and 1 MiB.
  private var mostOutput: Int {
    if case .tool = script.pace { return .max }
    return 2 * script.lines.reduce(0) { $0 + $1.count } + 16 << 10 * script.lines.count + 1 << 20
  }

  /// Waits for the next event. It waits for a millisecond at most while the time at which bytes
  /// leave the pipe matters, because there is no notification of that.
  private func wait() {
    let isCounting = !pump.input.isClosed && !seen.timing.isTaken || script.stop != nil || script.kill != nil
    pump.wait(atMost: isCounting ? 1 : 10)
  }

  private mutating func close() {
    group.finish()
    listen(at: .now)
    (seen.output, seen.errors) = (pump.output.bytes, pump.errors.bytes)
    // Bytes after the last line feed also count as a line.
    if let last = seen.output.last, last != UInt8(ascii: "\n") { seen.timing.answer(at: lastPiece) }
    pump.close()
  }
}

extension CommandSession.Script {
  fileprivate var limits: CommandTiming.Limits {
    switch pace {
    case .filter(let limits): limits
    case .tool(let timeLimit): CommandTiming.Limits(deadline: .zero, slack: .zero, hangAfter: timeLimit, jobs: .max)
    }
  }
}
