import ArgumentParser
import AttacheArguments
import AttacheMetrics
import Logging

/// The flags for the metrics of a worker or a deliverer.
struct MetricsOptions: ParsableArguments {
  @OptionGroup var server: MetricsServerOptions

  @Option(help: ArgumentHelp("Write the same metrics to a file, every 10 seconds and at the end.", valueName: "file"))
  var metricsFile: String?

  /// Starts the service that the flags request (``MetricsServerOptions/start(_:_:)``).
  ///
  /// - Parameter figures: the metrics of the worker or the deliverer.
  /// - Returns: nil when the flags request nothing.
  /// - Throws: the exit status, after the problem is logged.
  func start(_ figures: any MetricsSource, _ log: Logger) throws -> MetricsService? {
    guard server.metrics != nil || metricsFile != nil else { return nil }
    return try MetricsService(figures, server, file: metricsFile.map { MetricsFile($0) }, log)
  }
}
