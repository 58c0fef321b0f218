import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import AttacheSenders
import Glibc
import Logging

/// `attache deliver`: sends the results of a queue and records which were accepted.
struct Deliver: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliver",
    abstract: "Deliver the results of a queue to a command, an HTTP endpoint, Apple, Google or a folder, with acknowledgement.",
    discussion: """
      The command reads one payload per line from its standard input. It answers each, in the same order, with one line on its standard output: \
      "ok", "retry 30s" ("retry" alone: after an increasing delay), or "drop REASON". When it ends, it is started again after an increasing delay, and \
      reads the payloads that it has not answered. So each payload is sent at least once, and twice only if its answer was lost.

      With --http, each payload is the body of a POST. 2xx means ok. 408, 429 and 5xx are retried, after Retry-After if it is given. Any other status \
      is final for a payload that alone gets it. When three payloads in a row get it, or the endpoint cannot be reached, the deliverer pauses.

      With --apns, each payload is sent to Apple's push service, whose answer decides. The device token is in the envelope, or at --apns-token-path. \
      An answer that every payload would get, such as for a wrong key, pauses the deliverer.

      With --fcm, each payload is a message of Firebase Cloud Messaging's HTTP v1 API, such as {"message":{"token":…}}. Google's answer decides.

      With --folder, each result becomes a file such as OUT/17-cat.json, after the payload's number and the file that it comes from, with the record \
      beside it in OUT/17-cat.json.record. A result that is delivered again replaces the same files.

      Any number of deliverers may share a queue. After SIGTERM, SIGINT or SIGHUP, nothing more is sent, and the deliverer waits for answers, for at \
      most --answer-timeout. After a second signal, it does not wait. The exit status is 75 when undelivered results are left.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: #"Write each payload as {"id":N,"attempt":N,"payload":…}; answers are {"id":N,"answer":"ok"}, in any order."#)
  var envelope = false

  @Flag(
    help:
      "Start the command once for each payload: its exit status 0 is ok, 75 is retry, any other is final (126 and 127, no such command, pause)."
  )
  var each = false

  @OptionGroup(title: "To an HTTP endpoint") var http: HTTPOptions
  @OptionGroup(title: "To Apple") var apple: APNsOptions
  @OptionGroup(title: "To Google") var google: FCMOptions
  @OptionGroup var push: PushOptions
  @OptionGroup var roots: RootOptions

  @Option(help: ArgumentHelp("Write each result as a file into this folder, with its record beside it.", valueName: "out"))
  var folder: String?

  @Option(help: ArgumentHelp("The maximum number of unanswered payloads at the sender.", valueName: "n"))
  var jobs = 64

  @Option(help: ArgumentHelp("How long an answer may take; a sender that takes longer is stopped.", valueName: "time"))
  var answerTimeout = DurationArgument(.seconds(60), as: "60s")

  @Option(help: ArgumentHelp("Give up a payload that ended its sender this many times while no other was in flight.", valueName: "n"))
  var poisonAfter = 3

  @Option(
    help: ArgumentHelp(
      "Give up a payload whose tries have failed for this long. Only time counts in which others were accepted, so no outage gives up anything.",
      valueName: "time"))
  var giveUpAfter = DurationArgument(DelivererConfiguration.giveUpAfter, as: "24h")

  @Flag(
    help: "Keep the order enqueued, as the only deliverer. A payload that is undecided, or waits for a retry, keeps all others waiting.")
  var ordered = false

  @Option(help: ArgumentHelp("The maximum rate of all deliverers of the queue together, such as 500/s or 3000/m.", valueName: "rate"))
  var rate: RateArgument?

  @Flag(help: "End when every payload has a result and every result is delivered. (default: wait for more)")
  var once = false

  @Option(
    help: ArgumentHelp(
      "When answers are safe from a power failure: always (at once), group (within a second) or off. A killed process loses nothing.",
      valueName: "when"))
  var sync = SyncChoice.group

  @Flag(help: "Exit with status 65 if a payload was dropped or given up.")
  var strict = false

  @OptionGroup var metrics: MetricsOptions

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    guard Validation.isOn else { return }
    try CountArgument.check(jobs, "--jobs")
    try CountArgument.check(poisonAfter, "--poison-after")
    guard answerTimeout.duration >= .milliseconds(1) else { throw ValidationError("--answer-timeout must be at least 1ms.") }
    guard giveUpAfter.duration >= .seconds(1) else { throw ValidationError("--give-up-after must be at least 1s.") }
    let senders = [!command.isEmpty, http.http != nil, apple.apns, google.fcm, folder != nil].count { $0 }
    guard senders > 0 else {
      throw ValidationError(
        "name the command that sends, after --: attache deliver --queue … -- COMMAND; or --http URL, --apns, --fcm, or --folder OUT")
    }
    guard senders == 1 else { throw ValidationError("name a command, --http, --apns, --fcm or --folder: one of them.") }
    guard !command.isEmpty || !each && !envelope else { throw ValidationError("--each and --envelope need a command; remove them.") }
    guard command.isEmpty && folder == nil || roots.cacert == nil else { throw ValidationError("--cacert needs --http, --apns or --fcm.") }
    guard apple.apns || google.fcm || push.invalidTokens == nil else { throw ValidationError("--invalid-tokens needs --apns or --fcm.") }
    guard !(each && envelope) else { throw ValidationError("--each gives a command only the payload; remove --each or --envelope.") }
  }

  func run() throws {
    // The sender's thread gets its own allocator arena. With two arenas in all, it often waits for
    // the lock of the deliverer's arena.
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    BrokenPipe.block()
    let log = logFormat.logger()
    try DistinctFiles.check(queue.location.files + (metrics.metricsFile.map { [("the file of --metrics-file", $0)] } ?? []), log)
    if let folder { try DistinctFiles.check(queue.location, outside: folder, log) }
    let figures = DeliveryMetrics()
    let service = try metrics.start(figures, log)
    let opened = try queue.open(creates: false, sync: sync, log)
    defer { opened.close() }
    let sender = try sender(opened, log)
    let deliverer = try orExit(log, ExitStatus.software) {
      try Deliverer(configuration, queue: opened, sender: sender, observer: figures, notify: { log.warning("\($0)") })
    }
    figures.use(answers: { deliverer.answers })
    try service?.watch(opened, pulses: [])
    log.info("\(summary)")
    StopSignals.onEach(
      {
        service?.drain()
        deliverer.stop()
      },
      {
        opened.stopWaiting()
        deliverer.cancel()
      },
      late: { log.notice("stopping: results that were sent have --answer-timeout for their answers; another signal does not wait") })
    ProcessMemory.dropStart()
    let outcome = Result { () throws(DelivererError) in try deliverer.run() }
    service?.stop()
    try end(outcome, log)
  }

  private func end(_ outcome: Result<DelivererResult, DelivererError>, _ log: Logger) throws {
    switch outcome {
    case .success(let result):
      log.info("\(result.text)")
      if strict, result.hasDropped { throw ExitCode(ExitStatus.data) }
      if result.isWorkLeft { throw ExitCode(ExitStatus.temporaryFailure) }
    case .failure(.queue(let error)):
      log.error("\(error)")
      throw ExitCode(error.exitStatus)
    case .failure(.sender(let text)):
      log.error("the sender cannot be started: \(text)")
      throw ExitCode(ExitStatus.unavailable)
    }
  }

  private var configuration: DelivererConfiguration {
    var configuration = DelivererConfiguration()
    configuration.jobs = jobs
    configuration.answerTimeout = answerTimeout.duration
    configuration.poisonAfter = poisonAfter
    configuration.giveUpAfter = giveUpAfter.duration
    configuration.isOrdered = ordered
    configuration.rate = rate?.perSecond
    configuration.isOnce = once
    return configuration
  }

  private func sender(_ opened: any PayloadQueue, _ log: Logger) throws -> any Sender {
    if command.isEmpty { AmbientEnvironment.removeUnsafeVariables() }
    if let sender = try http.sender(roots, log, answerTimeout: answerTimeout.duration, jobs: jobs) { return sender }
    if let folder {
      return try orExit(log) { () throws(QueueError) in
        try FolderSender(folder, queue: opened, address: queue.location.absoluteDescription, sync: sync)
      }
    }
    if let sender = try apple.sender(queueName: opened.identity, push, roots, log) { return sender }
    if let sender = try google.sender(push, roots, answerTimeout: answerTimeout.duration, log) { return sender }
    return try orExit(log, ExitStatus.software) {
      guard !each else {
        var sender = EachSender.Configuration(command)
        sender.answerTimeout = answerTimeout.duration
        return try EachSender(sender)
      }
      var sender = CommandSender.Configuration(command)
      (sender.usesEnvelopes, sender.answerTimeout) = (envelope, answerTimeout.duration)
      return try CommandSender(sender)
    }
  }
}
