package import ArgumentParser
internal import Attache
package import AttacheMetrics
package import Logging

/// The flags for where a process serves its metrics.
package struct MetricsServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Serve /metrics, /livez and /readyz on this port of 127.0.0.1, or of another address, such as 10.0.0.7:9464; port 0 selects a free one, which the \
      log names.
      """, valueName: "[address:]port"))
  package var metrics: MetricsAddress?

  @Option(
    help: ArgumentHelp(
      "A file with a token that only its owner may read. Requests without 'Authorization: Bearer TOKEN' are refused.", valueName: "file"))
  package var metricsBearerFile: String?

  package init() {}

  package func validate() throws {
    guard Validation.isOn else { return }
    guard let metrics else { return try Validation.checkCompanions(of: "--metrics", ("--metrics-bearer-file", metricsBearerFile != nil)) }
    guard metrics.endpoint.address.isLoopback || metricsBearerFile != nil else {
      throw ValidationError(
        "--metrics \(metrics.endpoint) can be reached from other machines; it needs --metrics-bearer-file FILE, or an address of this machine "
          + "alone, such as 127.0.0.1.")
    }
  }

  /// Starts the server that the flags request. Call it after the processes that read what origins send
  /// were forked, so that they do not have the token in their memory.
  ///
  /// - Returns: nil when the flags request nothing.
  /// - Throws: the exit status, after the problem is logged.
  package func start(_ pages: any MetricsPages, _ log: Logger) throws -> MetricsServer? {
    guard let endpoint = metrics?.endpoint else { return nil }
    let token = try metricsBearerFile.map { file in try orExit(log, ExitStatus.data) { try BearerToken(contentsOf: file) } }
    do throws(SystemError) {
      let server = try MetricsServer(at: endpoint, token, pages) { log.warning("\($0)") }
      log.info("metrics at http://\(server.endpoint)/metrics")
      return server
    } catch {
      log.error("--metrics \(endpoint): \(error.call == "bind" ? SystemError.text(error.number) : "\(error)")")
      throw ExitCode(ExitStatus.unavailable)
    }
  }
}

/// The value of `--metrics`: a port of 127.0.0.1, or an address with a port, such as `[::1]:9464`.
package struct MetricsAddress: ExpressibleByArgument {
  private static let loopback = IPAddress.v4(0x7F00_0001)

  var endpoint: WrittenEndpoint

  package init?(argument: String) {
    let port = WrittenEndpoint.port(argument[...]).map { WrittenEndpoint(Self.loopback, port: $0) }
    guard let endpoint = port ?? WrittenEndpoint(argument) else { return nil }
    self.endpoint = endpoint
  }

  package static var allValueStrings: [String] { [] }
}
