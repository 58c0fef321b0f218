internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Glibc

/// `attache origin`: serves a folder with faults, or plays a push service, to try things by hand.
struct Origin: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin",
    abstract: "Serve a folder on 127.0.0.1, with faults selected by the path, or play Apple's or Google's push service.",
    discussion: """
      Prints its URL when it is ready and runs until SIGTERM, SIGINT or SIGHUP. Hidden files and symbolic links are not served.

      \(FaultPath.help)
      \(PushOrigin.help)
      """)

  @Argument(help: "The folder to serve.", completion: .directory)
  var directory: String?

  @Flag(help: "Play Apple's push service, with TLS and a key of its own.")
  var apns = false

  @Flag(help: "Play Google's push service (FCM), with TLS and a service account of its own.")
  var fcm = false

  @Option(help: "The topic that --apns accepts. (default: \(PushOrigin.defaultTopic))")
  var topic: String?

  @Option(help: "A channel that exists for --apns. Can be given several times.")
  var channel: [String] = []

  @Option(
    help: """
      A folder that keeps the root certificate and the keys of --apns and --fcm, so that the next start uses them again. It is made if \
      it does not exist.
      """, completion: .directory)
  var keys: String?

  @Option(help: "The port to listen on; 0 selects a free one.")
  var port = 0

  @Flag(help: "Serve the folder with TLS (HTTP/2 and HTTP/1.1); standard error names the root certificate's file, for --cacert.")
  var tls = false

  @Flag(help: "Write each request to standard error; of --apns and --fcm, with the client's address and port, and the answer.")
  var log = false

  func validate() throws {
    guard Validation.isOn else { return }
    let count = [directory != nil, apns, fcm].count { $0 }
    guard count > 0 else { throw ValidationError("Name the folder to serve, or give --apns or --fcm.") }
    guard count == 1 else { throw ValidationError("Give only one of a folder, --apns and --fcm.") }
    if tls, directory == nil { throw ValidationError("--tls applies to a folder: a push service always uses TLS. Remove --tls.") }
    if directory != nil { try Validation.checkCompanions(of: "--apns or --fcm", ("--keys", keys != nil)) }
    if !apns { try Validation.checkCompanions(of: "--apns", ("--topic", topic != nil), ("--channel", !channel.isEmpty)) }
    guard (0...65_535).contains(port) else { throw ValidationError("--port \(port): a port is a number from 0 to 65535") }
  }

  func run() async throws {
    let signals = Signals()
    do {
      if let directory { try await serve(directory, until: signals) } else { try await playPushService(until: signals) }
    } catch let error as OriginError {
      say(error.description)
      throw ExitCode(error.exitStatus)
    } catch let error as StageError {
      say("cannot make a temporary folder: \(error)")
      throw ExitCode(EX_CANTCREAT)
    }
  }

  private func serve(_ directory: String, until signals: Signals) async throws {
    let watch: (@Sendable (RecordedRequest) -> Void)? = log ? logged : nil
    let origin = try await FaultOrigin.start(
      port: port, tls: tls ? .selfMade() : .none, folder: directory, keepsRequests: false, watch: watch)
    if let root = origin.rootCertificatePEMFile { say("root certificate: \(root)") }
    put(origin.url(""), to: STDOUT_FILENO)
    await signals.first()
    await origin.stop()
  }

  private func playPushService(until signals: Signals) async throws {
    let watch: PushServer.Watch? = log ? logged : nil
    let origin =
      if apns {
        try await PushOrigin.startAPNs(port: port, keptIn: keys, topic: topic, channels: Set(channel), watch: watch)
      } else {
        try await PushOrigin.startFCM(port: port, keptIn: keys, watch: watch)
      }
    say("root certificate: \(origin.server.rootCertificatePEMFile)")
    say("key: \(origin.key)")
    say("flags: --cacert \(origin.server.rootCertificatePEMFile) \(origin.flags)")
    put(origin.server.url, to: STDOUT_FILENO)
    await signals.first()
    await origin.stop()
  }
}

extension OriginError {
  /// The exit status as in sysexits(3): 64 for a wrong argument, 69 for an unavailable resource, 73 for a
  /// file that cannot be used.
  fileprivate var exitStatus: CInt {
    switch self {
    case .folder: 64
    case .port, .certificate: 69
    case .keys: EX_CANTCREAT
    }
  }
}

@Sendable private func logged(_ request: RecordedRequest) {
  let target = PrintableText.of(request.target, maximumLength: 10_000)
  say("\(request.method) \(target) HTTP/\(request.httpVersion) on connection \(request.connection)")
}

@Sendable private func logged(_ request: PushServerRequest, _ status: Int, _ reason: String?) {
  let receiver = request.receiver.isEmpty ? "" : " to \(request.receiver)"
  let text = "\(request.client) \(request.method) \(request.path)\(receiver): \(status)\(reason.map { " \($0)" } ?? "")"
  // A condition of Google's messages may be long.
  say(PrintableText.of(text, maximumLength: 10_000))
}

private func say(_ text: String) {
  put("attache origin: \(text)", to: STDERR_FILENO)
}

/// Writes one line with one `write`, so that a waiting reader gets it whole.
private func put(_ text: String, to descriptor: CInt) {
  let line = Array("\(text)\n".utf8)
  _ = unsafe write(descriptor, line, line.count)
}
