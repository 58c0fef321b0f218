import ArgumentParser
import Attache
import AttacheArguments
import AttacheMetrics
import AttacheQueue
import Logging

/// The flags for the metrics of a worker or a deliverer.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Serve /metrics, /livez and /readyz on this port of 127.0.0.1, or of another address, such as 10.0.0.7:9464; port 0 selects a free one, which the \
      log names.
      """, valueName: "[address:]port"))
  var metrics: MetricsAddress?

  @Option(
    help: ArgumentHelp(
      "A file with a token that only its owner may read. Requests without 'Authorization: Bearer TOKEN' are refused.", valueName: "file"))
  var metricsBearerFile: String?

  @Option(help: ArgumentHelp("Write the same metrics to a file, every 10 seconds and at the end.", valueName: "file"))
  var metricsFile: String?

  func validate() throws {
    guard Validation.isOn else { return }
    guard let metrics else { return try Validation.checkCompanions(of: "--metrics", ("--metrics-bearer-file", metricsBearerFile != nil)) }
    guard metrics.endpoint.address.isLoopback || metricsBearerFile != nil else {
      throw ValidationError(
        "--metrics \(metrics.endpoint) can be reached from other machines; it needs --metrics-bearer-file FILE, or an address of this machine "
          + "alone, such as 127.0.0.1.")
    }
  }

  /// Starts the service that the flags request. Call it after the processes that read what origins send
  /// were forked, so that they do not have the token in their memory.
  ///
  /// - Parameter figures: the metrics of the worker or the deliverer.
  /// - Returns: nil when the flags request nothing.
  /// - Throws: the exit status, after the problem is logged.
  func start(_ figures: any MetricsSource, _ log: Logger) throws -> MetricsService? {
    guard metrics != nil || metricsFile != nil else { return nil }
    let token = try metricsBearerFile.map { file in try orExit(log, ExitStatus.data) { try BearerToken(contentsOf: file) } }
    return try MetricsService(figures, at: metrics?.endpoint, token, file: metricsFile.map { MetricsFile($0) }, log)
  }
}

/// The value of `--metrics`: a port of 127.0.0.1, or an address with a port, such as `[::1]:9464`.
struct MetricsAddress: ExpressibleByArgument {
  private static let loopback = IPAddress.v4(0x7F00_0001)

  var endpoint: WrittenEndpoint

  init?(argument: String) {
    let port = WrittenEndpoint.port(argument[...]).map { WrittenEndpoint(Self.loopback, port: $0) }
    guard let endpoint = port ?? WrittenEndpoint(argument) else { return nil }
    self.endpoint = endpoint
  }

  static var allValueStrings: [String] { [] }
}
