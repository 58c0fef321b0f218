internal import ArgumentParser
internal import AttacheArguments
internal import AttacheTesting
internal import Glibc

/// `attache origin DIR`: serves a folder with faults, to try things by hand.
struct Origin: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin",
    abstract: "Serve a folder on 127.0.0.1, with faults selected by the path.",
    discussion: """
      Prints its URL when it is ready and runs until SIGTERM, SIGINT or SIGHUP. Hidden files and symbolic links are not served.

      \(FaultPath.help)
      """)

  @Argument(help: "The folder to serve.", completion: .directory)
  var directory: String

  @Option(help: "The port to listen on; 0 selects a free one.")
  var port = 0

  @Flag(help: "Use TLS (HTTP/2 and HTTP/1.1); standard error names the root certificate's file, for --cacert.")
  var tls = false

  @Flag(help: "Write each request to standard error.")
  var log = false

  func validate() throws {
    guard Validation.isOn else { return }
    guard (0...65_535).contains(port) else { throw ValidationError("--port \(port): a port is a number from 0 to 65535") }
  }

  func run() async throws {
    let signals = Signals()
    let origin = try await start()
    if let root = origin.rootCertificatePEMFile { say("root certificate: \(root)") }
    put(origin.url(""), to: STDOUT_FILENO)
    await signals.first()
    await origin.stop()
  }

  private func start() async throws -> FaultOrigin {
    let watch: (@Sendable (RecordedRequest) -> Void)? = log ? logged : nil
    do throws(OriginError) {
      return try await FaultOrigin.start(
        port: port, tls: tls ? .selfMade() : .none, folder: directory, keepsRequests: false, watch: watch)
    } catch {
      say(error.description)
      throw ExitCode(error.exitStatus)
    }
  }
}

extension OriginError {
  /// The exit status as in sysexits(3): 64 for a wrong argument, 69 for an unavailable resource.
  fileprivate var exitStatus: CInt {
    switch self {
    case .folder: 64
    case .port, .certificate: 69
    }
  }
}

@Sendable private func logged(_ request: RecordedRequest) {
  say("\(request.method) \(request.target) HTTP/\(request.httpVersion) on connection \(request.connection)")
}

private func say(_ text: String) {
  put("attache origin: \(text)", to: STDERR_FILENO)
}

/// Writes one line with one `write`, so that a waiting reader gets it whole.
private func put(_ text: String, to descriptor: CInt) {
  let line = Array("\(text)\n".utf8)
  _ = unsafe write(descriptor, line, line.count)
}
