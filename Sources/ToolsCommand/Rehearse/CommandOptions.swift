internal import ArgumentParser
internal import AttacheArguments
internal import AttacheTesting
internal import Foundation

/// What a rehearsal requires of another filter.
enum DemandChoice: String, ExpressibleByArgument, CaseIterable {
  case promise, all

  var demand: CommandRehearsal.Demand {
    switch self {
    case .promise: .promise
    case .all: .all
    }
  }
}

/// The value of `--queue`: a kind of queue, or the URI of a server.
struct QueueChoice: ExpressibleByArgument {
  var place: QueueRehearsal.Place

  init?(argument: String) {
    if let kind = QueueRehearsal.Kind(rawValue: argument) {
      place = .folder(kind)
    } else if Self.schemes.contains(where: { argument.hasPrefix($0 + "://") }) {
      place = .server(uri: argument)
    } else {
      return nil
    }
  }

  /// The kinds of queues on servers.
  private static let schemes = ["postgresql", "postgres"]

  static var allValueStrings: [String] { QueueRehearsal.Kind.allCases.map(\.rawValue) + ["postgresql://HOST/DATABASE"] }

  /// Whether the URI names a queue.
  var hasName: Bool {
    guard case .server(let uri) = place else { return false }
    return uri.drop { $0 != "?" }.dropFirst().split(separator: "&").contains { $0.hasPrefix("queue=") }
  }
}

/// The flags for rehearsing another filter, and for what it must do.
struct CommandOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Rehearse this shell command instead of attache's engine.", valueName: "command"))
  var command: String?

  @Option(
    help: ArgumentHelp(
      """
      Rehearse attache work: the payloads go into a queue of this kind, sqlite or postgresql://HOST/DATABASE (a server of this machine, on \
      which each scenario has a queue of its own), a worker works it, and their results are read. --command is then another worker of the \
      queue $REHEARSAL_QUEUE.
      """, valueName: "kind"))
  var queue: QueueChoice?

  @Option(
    help: ArgumentHelp("How long a command may continue after its last deadline. (default: twice the deadline)", valueName: "time"))
  var hangAfter: DurationArgument?

  @Option(help: ArgumentHelp("How much later a line may come, for the delay between two processes. (default: 250ms)", valueName: "time"))
  var slack: DurationArgument?

  @Flag(help: "Lines may come in any order.")
  var anyOrder = false

  @Option(
    help: """
      promise (default): each line comes once, in time, as it was or with members added, and the command lives; all: what the scenario \
      expects, too: outcomes, reasons, attachments, media, requests, fields, connections, names, memory, descriptors and the exit status.
      """)
  var expect: DemandChoice?

  @Flag(help: "Also play a folder's scenarios of 10,000 payloads and more. They take long, and --command skips them by default.")
  var large = false

  @Option(
    help: ArgumentHelp(
      """
      Kill the command at start, fed, request[:N], sent[:N] or line[:N], start it again with the unanswered lines, and check that every line \
      comes whole. Repeatable.
      """, valueName: "step"),
    transform: { text in
      guard let point = CommandKillPoint(text) else {
        throw ValidationError("a step is start, fed, request, sent or line; the last three may have a number, such as request:2")
      }
      return point
    })
  var killAt: [CommandKillPoint] = []

  @Option(
    help: ArgumentHelp(
      "The same at this many random moments, chosen by --seed. With --queue, check that each payload has one complete result.",
      valueName: "n"))
  var killRandom: Int?

  func validate() throws {
    guard Validation.isOn else { return }
    guard (1...1_000).contains(killRandom ?? 1) else { throw ValidationError("--kill-random must be at least 1 and at most 1000.") }
    guard command.map({ !$0.allSatisfy(\.isWhitespace) }) != false else { throw ValidationError("--command is empty.") }
  }

  /// Rejects flags that cannot be combined, or that need another flag.
  ///
  /// - Throws: `ValidationError`.
  func check(clock: ClockChoice) throws {
    guard let player = queue != nil ? "--queue" : command != nil ? "--command" : nil else {
      if let flag = needsCommand { throw ValidationError("\(flag) needs --command, which rehearses another filter.") }
      return
    }
    guard queue?.hasName != true else { throw ValidationError("Each scenario has a queue of its own; remove queue= from --queue.") }
    guard clock == .real else { throw ValidationError("\(player) runs on the real clock; remove --clock \(clock.rawValue).") }
    guard expect != .all || killAt.isEmpty && killRandom == nil else {
      throw ValidationError("A killed command cannot do all that a scenario expects; remove --expect all.")
    }
    if queue != nil, let flag = needsPipe {
      throw ValidationError("\(flag) applies to lines in a pipe, which a queue does not have; remove it.")
    }
  }

  private var needsCommand: String? {
    let given: [(Bool, String)] = [(hangAfter != nil, "--hang-after"), (expect != nil, "--expect"), (killRandom != nil, "--kill-random")]
    return given.first { $0.0 }?.1 ?? needsPipe
  }

  private var needsPipe: String? {
    let given: [(Bool, String)] = [
      (slack != nil, "--slack"), (anyOrder, "--any-order"), (expect == .promise, "--expect promise"), (!killAt.isEmpty, "--kill-at"),
      (large, "--large"),
    ]
    return given.first { $0.0 }?.1
  }

  /// Whether to leave out scenarios of many payloads.
  var leavesOutLarge: Bool { command != nil && queue == nil && !large }

  /// Notes for the report on what is not checked for the command.
  var notes: [String] {
    guard command != nil, queue == nil, expect != .all, killAt.isEmpty, killRandom == nil else { return [] }
    return [
      "--expect promise does not check what the scenarios expect: outcomes, reasons, attachments, media, requests, fields, connections, names, "
        + "memory, descriptors, and exit statuses other than 0; --expect all does"
    ]
  }

  func queueRehearsal(timeScale: Double) -> QueueRehearsal? {
    guard let queue else { return nil }
    var rehearsal = QueueRehearsal(at: queue.place)
    if let command { rehearsal.worker = command }
    rehearsal.hangAfter = hangAfter?.duration
    rehearsal.randomKills = killRandom ?? 0
    rehearsal.timeScale = timeScale
    rehearsal.environment["PATH"] = Self.path
    return rehearsal
  }

  func rehearsal(timeScale: Double, keepsGoing: Bool) -> CommandRehearsal? {
    guard let command else { return nil }
    var rehearsal = CommandRehearsal(command)
    rehearsal.goesOnAfterHang = keepsGoing
    rehearsal.hangAfter = hangAfter?.duration
    if let slack { rehearsal.slack = slack.duration }
    rehearsal.inAnyOrder = anyOrder
    if let expect { rehearsal.demand = expect.demand }
    rehearsal.killPoints = killAt
    rehearsal.randomKills = killRandom ?? 0
    rehearsal.timeScale = timeScale
    rehearsal.environment["PATH"] = Self.path
    return rehearsal
  }

  /// `PATH` with the folder of this attache at the end, so that `--command 'attache …'` finds it
  /// when no other one is installed.
  private static var path: String {
    let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    let folder = (executable as NSString).deletingLastPathComponent
    return (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin") + ":" + folder
  }
}
