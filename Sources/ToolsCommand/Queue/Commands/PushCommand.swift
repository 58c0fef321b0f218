import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments
import AttacheQueue
import AttacheSenders
import Logging

/// `attache push`: sends one payload by hand.
struct PushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Send one payload to Apple and print the answer.",
    discussion: """
      The answer goes to standard output: the status and the reason, what they mean, and the apns-id (of a broadcast, the apns-request-id). The exit status is 0 when Apple has accepted the \
      notification; 75 when it may be sent again; 65 when this payload, this device token or this channel will never be taken; 77 when Apple does not accept the key, the \
      certificate or the topic; 69 when the server cannot be reached.
      """)

  @Argument(help: "The file with the payload, on one line or several; - is standard input.")
  var file: String

  @Option(help: ArgumentHelp("The device token, in hexadecimal digits. (default: the envelope's)", valueName: "token"))
  var token: String?

  @OptionGroup var options: APNsOptions

  @OptionGroup var roots: RootOptions

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  func validate() throws {
    guard Validation.isOn else { return }
    guard options.apns else { throw ValidationError("Give --apns to say where to send it.") }
    if token != nil, options.apnsChannelPath != nil {
      throw ValidationError("--token and --apns-channel-path name different receivers; give one of them.")
    }
  }

  func run() throws {
    AmbientEnvironment.removeUnsafeVariables()
    let log = logFormat.logger()
    var configuration = try options.configuration(queueName: "push \(UInt64.random(in: 0...UInt64.max))", roots, log)
    configuration.deviceToken = token
    configuration.timeLimits.unreachable = .zero
    let maker = PushRequestMaker(configuration)
    switch maker.make(try delivery(log)) {
    case .answer(.refused(let reason)), .answer(.dropped(let reason)):
      log.error("not sent: \(reason)")
      throw ExitCode(ExitStatus.data)
    case .answer: throw ExitCode(ExitStatus.software)
    case .request(let request):
      if maker.hasLostMedia { log.notice("the attachments have file: URLs, which no device can load: they are not sent; see --base-url") }
      let invalidTokens = try orExit(log, ExitStatus.inputOutput) {
        try options.invalidTokens.map { path throws(SystemError) in try InvalidTokenFile(path) }
      }
      let exchange = try PushExchange()
      let end = try exchange.send(request, configuration, log)
      if case .answered(let reply) = end, APNsVerdict.of(reply).consequence == .invalidToken, let deviceToken = request.deviceToken {
        try orExit(log, ExitStatus.inputOutput) { try invalidTokens?.add(deviceToken, reply) }
      }
      try report(end, request, log)
    }
  }

  /// Reads the file's only payload.
  private func delivery(_ log: Logger) throws -> Delivery {
    let input = try InputFile(file, log)
    let payloads = try orExit(log, ExitStatus.inputOutput) {
      let reader = try PayloadInput(descriptor: input.descriptor)
      var payloads: [InputPayload] = []
      while payloads.count < 2, let payload = try reader.next() { payloads.append(payload) }
      return payloads
    }
    guard payloads.count == 1, let payload = payloads.first else {
      log.error("\(input.name) contains \(payloads.isEmpty ? "no payload" : "several payloads"); push sends one")
      throw ExitCode(ExitStatus.data)
    }
    return Delivery(
      token: LeaseToken(id: 1, fence: 1), line: payload.bytes, outcome: .passthrough, reason: nil, attempt: 1, expiresAt: nil, deaths: 0,
      deathsAlone: 0)
  }

  private func report(_ end: PushEnd, _ request: PushRequest, _ log: Logger) throws {
    switch end {
    case .answered(let reply):
      let verdict = APNsVerdict.of(reply)
      var text = verdict.text(of: reply) + "\n"
      if let (name, value) = request.identifier { text += "\(name): \(value)\n" }
      if let timestamp = reply.timestamp { text += "timestamp: \(timestamp)\n" }
      if let pause = reply.retryAfter { text += "retry-after: \(pause.components.seconds) s\n" }
      try StandardOutput.write(text)
      if let status = verdict.exitStatus { throw ExitCode(status) }
    case .lost(let why):
      log.error("\(why)")
      throw ExitCode(ExitStatus.temporaryFailure)
    case .unusable(let why):
      log.error("\(why)")
      throw ExitCode(ExitStatus.unavailable)
    case .cancelled: throw ExitCode(ExitStatus.software)
    }
  }
}

extension APNsVerdict {
  /// The exit status of `attache push`; nil for success.
  fileprivate var exitStatus: Int32? {
    switch consequence {
    case .delivered: nil
    case .retry: ExitStatus.temporaryFailure
    case .invalidToken, .dropped: ExitStatus.data
    case .renewToken, .refused, .refusedTopic: ExitStatus.noPermission
    }
  }
}
