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
    commandName: "push", abstract: "Send one payload to Apple or Google and print the answer.",
    discussion: """
      The answer goes to standard output: the status and the reason, what they mean, and the apns-id (of a broadcast, the apns-request-id), or the name of the message at Google. The exit status is 0 when the service has accepted the \
      notification; 75 when it may be sent again; 65 when this payload, this device token or this channel will never be taken; 77 when the service does not accept the key, the \
      certificate, the topic or the project; 69 when the server cannot be reached.
      """)

  @Argument(help: "The file with the payload, on one line or several; - is standard input.")
  var file: String

  @Option(help: ArgumentHelp("The device token, in hexadecimal digits. (default: the envelope's)", valueName: "token"))
  var token: String?

  @OptionGroup(title: "To Apple") var apple: APNsOptions
  @OptionGroup(title: "To Google") var google: FCMOptions
  @OptionGroup var push: PushOptions
  @OptionGroup var roots: RootOptions

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  /// How long Google's answer may take.
  private static let answerTimeout = Duration.seconds(30)

  func validate() throws {
    guard Validation.isOn else { return }
    guard apple.apns != google.fcm else { throw ValidationError("Give --apns or --fcm to say where to send it: one of them.") }
    guard token == nil || apple.apns else { throw ValidationError("--token needs --apns; with --fcm, the token is in the message.") }
    if token != nil, apple.apnsChannelPath != nil {
      throw ValidationError("--token and --apns-channel-path name different receivers; give one of them.")
    }
  }

  func run() throws {
    AmbientEnvironment.removeUnsafeVariables()
    let log = logFormat.logger()
    try apple.apns ? sendToApple(log) : sendToGoogle(log)
  }

  private func sendToApple(_ log: Logger) throws {
    var configuration = try apple.configuration(queueName: "push \(UInt64.random(in: 0...UInt64.max))", push, roots, log)
    configuration.deviceToken = token
    configuration.timeLimits.unreachable = .zero
    let maker = PushRequestMaker(configuration)
    switch maker.make(try delivery(log)) {
    case .answer(.refused(let reason)), .answer(.dropped(let reason)): throw notSent(reason, log)
    case .answer: throw ExitCode(ExitStatus.software)
    case .request(let request):
      if maker.hasLostMedia { tellOfLostMedia(log) }
      let invalidTokens = try invalidTokens(log)
      let exchange = try PushExchange<APNsReply>(log)
      let client = try orExit(log, ExitStatus.data) { try PushClient(configuration, owner: exchange) }
      defer { client.close() }
      client.perform { client.send([request]) }
      try report(exchange.wait(), log) { reply in
        let verdict = APNsVerdict.of(reply)
        if verdict.consequence == .invalidToken, let deviceToken = request.deviceToken {
          try orExit(log, ExitStatus.inputOutput) {
            try invalidTokens?.add(deviceToken, reason: reply.reason ?? String(reply.status), timestamp: reply.timestamp)
          }
        }
        var text = verdict.text(of: reply) + "\n"
        if let (name, value) = request.identifier { text += "\(name): \(value)\n" }
        if let timestamp = reply.timestamp { text += "timestamp: \(timestamp)\n" }
        if let pause = reply.retryAfter { text += "retry-after: \(pause.components.seconds) s\n" }
        return (text, verdict.exitStatus)
      }
    }
  }

  private func sendToGoogle(_ log: Logger) throws {
    let configuration = try google.configuration(push, roots, answerTimeout: Self.answerTimeout, log)
    let maker = FCMRequestMaker(outputKey: configuration.outputKey)
    switch maker.make(try delivery(log)) {
    case .nothing(let reason): throw notSent(reason, log)
    case .request(let request):
      if maker.hasLostMedia { tellOfLostMedia(log) }
      let invalidTokens = try invalidTokens(log)
      let exchange = try PushExchange<FCMReply>(log)
      let client = try orExit(log, ExitStatus.data) { try FCMClient(configuration) }
      defer { client.close() }
      client.start { exchange.take($0.first?.end) }
      client.perform { client.send([request]) }
      try report(exchange.wait(), log) { reply in
        let verdict = FCMVerdict.of(reply)
        if verdict.consequence == .invalidToken, let deviceToken = request.deviceToken {
          try orExit(log, ExitStatus.inputOutput) { try invalidTokens?.add(deviceToken, reason: reply.errorCode ?? reply.name) }
        }
        var text = verdict.text(of: reply) + "\n"
        if let name = reply.messageName { text += "name: \(name)\n" }
        if let pause = reply.retryAfter { text += "retry-after: \(pause.components.seconds) s\n" }
        return (text, verdict.exitStatus)
      }
    }
  }

  private func notSent(_ reason: String, _ log: Logger) -> ExitCode {
    log.error("not sent: \(reason)")
    return ExitCode(ExitStatus.data)
  }

  private func tellOfLostMedia(_ log: Logger) {
    log.notice("the attachments have file: URLs, which no device can load: they are not sent; see --base-url")
  }

  private func invalidTokens(_ log: Logger) throws -> InvalidTokenFile? {
    try orExit(log, ExitStatus.inputOutput) {
      try push.invalidTokens.map { path throws(SystemError) in try InvalidTokenFile(path) }
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

  /// Prints the answer.
  ///
  /// - Parameter print: returns the text of an answer, and the exit status; nil for success.
  private func report<Reply>(_ end: RequestEnd<Reply>, _ log: Logger, print: (Reply) throws -> (text: String, status: Int32?)) throws {
    switch end {
    case .answered(let reply):
      let (text, status) = try print(reply)
      try StandardOutput.write(text)
      if let status { throw ExitCode(status) }
    case .lost(let why):
      log.error("\(why)")
      throw ExitCode(ExitStatus.temporaryFailure)
    case .unusable(let why):
      log.error("\(why)")
      throw ExitCode(ExitStatus.unavailable)
    case .refused(let why):
      log.error("\(why)")
      throw ExitCode(ExitStatus.noPermission)
    case .unanswered: throw ExitCode(ExitStatus.software)
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

extension FCMVerdict {
  /// The exit status of `attache push`; nil for success.
  fileprivate var exitStatus: Int32? {
    switch consequence {
    case .delivered: nil
    case .retry, .overQuota: ExitStatus.temporaryFailure
    case .invalidToken, .dropped: ExitStatus.data
    case .otherSender, .otherService, .renewToken, .refused, .rejected: ExitStatus.noPermission
    }
  }
}
