internal import Attache
internal import Glibc

/// A command that is run to its end: it is fed, listened to, and ended when it must be.
struct CommandInvocation: Sendable {
  /// What was seen of it.
  struct Outcome: Sendable {
    var start: MonotonicInstant
    var end: MonotonicInstant
    /// nil when it was killed, or had to be ended.
    var exit: CommandExit?
    var output: [UInt8] = []
    /// The last of what it wrote to standard error.
    var errors: [UInt8] = []
    /// Whether it was killed at the moment that was asked for.
    var isKilled = false
    /// The most that it held at a time; nil when nobody looked.
    var resources: CommandResources?
  }

  var launch: CommandLaunch
  /// Where it is started; nil is this machine's network.
  var network: NetworkNamespace?
  var lines: [[UInt8]] = []
  var endsWithLineFeed = true
  /// How long it may take.
  var patience: Duration
  /// When it is killed, counted from its start; nil is never.
  var killedAfter: Duration?
  /// Whether its memory and descriptors are looked at.
  var watchesResources = false

  /// Runs it; nothing of its group lives after that.
  func run() async throws(StageError) -> Outcome {
    let (group, pipes) = try await RehearsalThread.attempt(in: network) { () throws(StageError) in try launch.started() }.get()
    do throws(SystemError) {
      return try await group.whileRunning { () throws(SystemError) in
        try await RehearsalThread.run { follow(group, pipes) }
      }
    } catch {
      throw .system(call: error.call, errno: error.number)
    }
  }

  private func follow(_ group: CommandGroup, _ pipes: CommandLaunch.Pipes) -> Outcome {
    var feed = CommandFeed(pipes.input, lines: lines, endsWithLineFeed: endsWithLineFeed)
    var (output, errors) = (CommandSink(pipes.output), CommandSink(pipes.errors, keeps: 16 << 10))
    var seen = Outcome(start: .now, end: .now)
    while true {
      // In this order: what it wrote before it ended is read after that was seen.
      seen.exit = group.exit
      feed.write()
      if feed.isWritten { feed.close() }
      _ = (output.read(), errors.read())
      if watchesResources { look(at: group, &seen) }
      let time = seen.start.duration(to: .now)
      seen.isKilled = seen.exit == nil && killedAfter.map { time >= $0 } == true
      if seen.exit != nil || seen.isKilled || time >= patience { break }
      wait(feed, output, errors)
    }
    group.end()
    _ = (output.read(), errors.read())
    seen.end = .now
    (seen.output, seen.errors) = (output.bytes, errors.bytes)
    feed.close()
    output.close()
    errors.close()
    return seen
  }

  private func look(at group: CommandGroup, _ seen: inout Outcome) {
    var resources = seen.resources ?? CommandResources()
    resources.look(at: group.leader)
    seen.resources = resources
  }

  /// Waits for something to read or write: a few milliseconds at most, since nothing else tells
  /// that the command has ended, or is to be killed.
  private func wait(_ feed: CommandFeed, _ output: CommandSink, _ errors: CommandSink) {
    var requests = [
      pollfd(fd: feed.waitsFor, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&requests, nfds_t(requests.count), killedAfter == nil ? 10 : 1)
  }
}
