import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// The flags for the metrics of a worker or a deliverer.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Serve /metrics, /livez and /readyz on 127.0.0.1 on this port; 0 selects a free one, which the log names.", valueName: "port"))
  var metrics: UInt16?

  @Option(help: ArgumentHelp("Write the same metrics to a file, every 10 seconds and at the end.", valueName: "file"))
  var metricsFile: String?

  /// Starts the service that the flags request.
  ///
  /// - Parameter figures: the metrics of the worker or the deliverer.
  /// - Returns: nil when the flags request nothing.
  /// - Throws: the exit status, after the problem is logged.
  func start(_ figures: any MetricsSource, _ log: Logger) throws -> MetricsService? {
    guard metrics != nil || metricsFile != nil else { return nil }
    return try MetricsService(figures, port: metrics, file: metricsFile.map { MetricsFile($0) }, log)
  }
}
