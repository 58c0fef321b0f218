import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc
import Logging

/// `attache enqueue`: adds payloads to a queue, one a line.
struct Enqueue: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enqueue", abstract: "Add payloads to a queue, one per line or file; create the queue if it does not exist.",
    discussion: """
      Payloads are in the queue as soon as the input pauses, and on disk when the command ends. The priority and the expiration that an envelope \
      states (apns-priority, apns-expiration) take precedence over the flags.

      With --folder, each file of a folder is one payload. Write a file elsewhere on the same file system, and move it into the folder. It is removed \
      once it is in the queue: killed at any instant, the command loses no file and adds none twice. Names that begin with a dot, folders, links and \
      FIFOs stay. A file that is too long or cannot be read goes to IN.refused.

      After SIGTERM, SIGINT or SIGHUP, the command finishes the line that it is reading, for at most 30 s. After a second signal, it ends at once.
      """)

  @Argument(help: "The file to read. (default: standard input)")
  var file: String?

  @Option(help: ArgumentHelp("Add the files of this folder, each as one payload, and remove them.", valueName: "in"))
  var folder: String?

  @Flag(help: "With --folder, wait for more files. (default: end when there is none)")
  var follow = false

  @OptionGroup var queue: QueueOptions

  @Option(help: PayloadOptions.pathHelp, transform: { try JSONPointer(path: $0) })
  var payloadPath: JSONPointer?

  @Option(
    help: ArgumentHelp(
      "Add a payload once: bytes compares whole lines, a path such as id or /message/id compares the value there; a line without it is added.",
      valueName: "bytes|path"),
    transform: { $0 == "bytes" ? .bytes : .place(try JSONPointer(path: $0)) })
  var dedupe = PayloadKey.none

  @Option(
    help: ArgumentHelp(
      "What people search the payload by (queue --list --key): the value at this place, such as a user's or a campaign's; several may share it.",
      valueName: "path"),
    transform: { try JSONPointer(path: $0) })
  var keyPath: JSONPointer?

  @Option(help: ArgumentHelp("From 10 (processed first) to 1.", valueName: "n"))
  var priority = NewPayload.usualPriority

  @Option(
    help: ArgumentHelp(
      "Do not process it before this time: a date such as 2026-11-21T18:00:00Z, +10m (from now), or seconds since 1970.", valueName: "time"),
    transform: { try MomentArgument.read($0) })
  var notBefore: Duration?

  @Option(
    help: ArgumentHelp("After this time, do not fetch: the original becomes the result. Same format.", valueName: "time"),
    transform: { try MomentArgument.read($0) })
  var expiresAt: Duration?

  @Option(
    help:
      "What survives a power failure: always: each batch; group: data older than a second, and everything when the command ends; off: no guarantee. A crashed process never loses data."
  )
  var sync = SyncChoice.group

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  /// How long a half-read line may take to end after a signal. Other commands use `--deadline` for
  /// this.
  private static let lineEnd = Duration.seconds(30)

  func validate() throws {
    guard Validation.isOn else { return }
    guard NewPayload.priorities.contains(priority) else { throw ValidationError("--priority must be at least 1 and at most 10.") }
    guard folder == nil || file == nil else { throw ValidationError("--folder takes the place of a file: name one of them.") }
    guard folder != nil || !follow else { throw ValidationError("--follow needs --folder IN.") }
  }

  func run() throws {
    let log = logFormat.logger()
    if let folder { return try run(folder, log) }
    // Opening a pipe waits for its other end. A signal must end the process meanwhile.
    StopSignals.endProcess()
    let input = try InputFile(file, log)
    StopSignals.block()
    let stop = try orExit(log, ExitStatus.software) { try ReadingStop() }
    let opened = try queue.open(creates: true, sync: sync, log)
    defer { opened.close() }
    StopSignals.onEach(
      { stop.request(finishingLineBy: .now.advanced(by: Self.lineEnd)) },
      {
        opened.stopWaiting()
        stop.request(finishingLineBy: .now)
      },
      late: {
        log.notice("stopping: a half-read line has \(Self.lineEnd.components.seconds) s to end; another signal does not wait for it")
      })
    let enqueuer = Enqueuer(opened, options)
    let result = Result { () throws(EnqueueError) in try enqueuer.run(input.descriptor, stop: stop) }
    log.info("\(summary(of: enqueuer.counts))")
    try finish(result, enqueuer.counts, input, opened, log)
  }

  var options: EnqueueOptions {
    var options = EnqueueOptions()
    options.payloadPath = payloadPath
    (options.priority, options.notBefore, options.expiresAt, options.key) = (priority, notBefore, expiresAt, dedupe)
    options.searchKey = keyPath.map(PayloadKey.place) ?? .none
    return options
  }

  private func summary(of counts: Enqueuer.Counts) -> String {
    let text = summary(of: counts.enqueued - counts.repeated)
    return switch counts.repeated {
    case 0: text
    case 1: text + ", 1 was already there"
    case let repeated: text + ", \(repeated) were already there"
    }
  }

  func summary(of added: Int) -> String { "\(added) payload\(added == 1 ? "" : "s") enqueued in \(queue.location.message)" }

  /// Which lines are not in the queue after an error, and what to do.
  private func missing(_ counts: Enqueuer.Counts) -> String {
    let first = counts.lastLine + 1
    guard let last = counts.lastLineInDoubt else { return "line \(first) and the lines after it are not in the queue" }
    let lines = last > first ? "lines \(first) to \(last)" : "line \(first)"
    let advice =
      if case .none = dedupe {
        "`attache queue` shows how many payloads it has; enqueue what is missing"
      } else {
        "enqueue from line \(first) again, with the same --dedupe"
      }
    return "\(lines) may be in the queue, and the lines after line \(last) are not: \(advice)"
  }

  /// Syncs the added payloads to disk, logs what is missing, and throws the exit status for it.
  private func finish(
    _ result: Result<Enqueuer.Ending, EnqueueError>, _ counts: Enqueuer.Counts, _ input: InputFile, _ opened: any PayloadQueue,
    _ log: Logger
  ) throws {
    var status: Int32 = 0
    switch result {
    case .success(.end), .success(.overlong): break
    case .success(.stopped): status = ExitStatus.temporaryFailure
    case .failure(.input(let error)):
      input.complain(error, log)
      status = ExitStatus.inputOutput
    case .failure(.system(let error)):
      log.error("cannot start to read payloads: \(error); nothing was added")
      status = ExitStatus.software
    case .failure(.changed(let line)):
      log.error("line \(line) of \(input.name) is not in the queue")
      status = ExitStatus.data
    case .failure(.queue(let error)):
      log.error("\(error)")
      log.error("\(missing(counts))")
      status = error.exitStatus
    }
    try orExit(log) { () throws(QueueError) in try opened.sync() }
    if let line = counts.unfinished {
      log.warning("line \(line) of \(input.name) was incomplete when reading stopped: its beginning is in the queue")
    }
    if let line = counts.firstOverlong, status == 0 {
      let others = counts.overlong > 1 ? " and \(counts.overlong - 1) more" : ""
      log.error("line \(line)\(others) of \(input.name) is longer than 64 MiB and was skipped")
      status = ExitStatus.data
    }
    if status != 0 { throw ExitCode(status) }
  }
}
