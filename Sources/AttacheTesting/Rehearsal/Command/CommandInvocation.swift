internal import Attache
internal import Glibc

/// Runs a command to its end: writes its input, reads its output, and ends it when necessary.
struct CommandInvocation: Sendable {
  /// The observations of a run.
  struct Outcome: Sendable {
    var start: MonotonicInstant
    var end: MonotonicInstant
    /// The exit; nil when it was killed or had to be ended.
    var exit: ProcessEnd?
    var output: [UInt8] = []
    /// The last bytes that it wrote to standard error.
    var errors: [UInt8] = []
    /// Whether it was killed at the requested time.
    var isKilled = false
    /// The peak resource use; nil when it was not measured.
    var resources: CommandResources?
  }

  var launch: ProcessLaunch
  /// The network in which the command starts; nil for this machine's network.
  var network: NetworkNamespace?
  var lines: [[UInt8]] = []
  var endsWithLineFeed = true
  /// The maximum duration.
  var patience: Duration
  /// The time to kill it, counted from its start; nil for never.
  var killedAfter: Duration?
  /// Whether its memory and descriptors are measured.
  var watchesResources = false

  /// Runs the command. No process of its group is left afterwards.
  func run() async throws(StageError) -> Outcome {
    try await launch.run(in: network, follow)
  }

  private func follow(_ group: StartedProcess, _ pipes: ProcessLaunch.Pipes) -> Outcome {
    var feed = CommandFeed(pipes.input, lines: lines, endsWithLineFeed: endsWithLineFeed)
    var (output, errors) = (CommandSink(pipes.output), CommandSink(pipes.errors, keeps: 16 << 10))
    var seen = Outcome(start: .now, end: .now)
    while true {
      // The order matters: everything written before the exit must be read after the exit was seen.
      seen.exit = group.end
      feed.write()
      if feed.isWritten { feed.close() }
      _ = (output.read(), errors.read())
      if watchesResources { look(at: group, &seen) }
      let time = seen.start.duration(to: .now)
      seen.isKilled = seen.exit == nil && killedAfter.map { time >= $0 } == true
      if seen.exit != nil || seen.isKilled || time >= patience { break }
      wait(feed, output, errors)
    }
    group.finish()
    _ = (output.read(), errors.read())
    seen.end = .now
    (seen.output, seen.errors) = (output.bytes, errors.bytes)
    feed.close()
    output.close()
    errors.close()
    return seen
  }

  private func look(at group: StartedProcess, _ seen: inout Outcome) {
    var resources = seen.resources ?? CommandResources()
    resources.look(at: group.identifier)
    seen.resources = resources
  }

  /// Waits until something can be read or written, for a few milliseconds at most, because there is
  /// no notification of the command's exit or of the kill time.
  private func wait(_ feed: CommandFeed, _ output: CommandSink, _ errors: CommandSink) {
    var requests = [
      pollfd(fd: feed.waitsFor, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&requests, nfds_t(requests.count), killedAfter == nil ? 10 : 1)
  }
}
