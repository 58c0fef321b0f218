import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// Where a worker's figures go.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Serve /metrics, /livez and /readyz on 127.0.0.1 at this port; 0 is any, which the log names.", valueName: "port"))
  var metrics: UInt16?

  @Option(help: ArgumentHelp("Write the same figures to a file, every 10 seconds and at the end.", valueName: "file"))
  var metricsFile: String?

  /// Starts what the flags ask for.
  ///
  /// - Parameters:
  ///   - figures: what the worker or the deliverer tells what it does.
  ///   - pulses: what asks each fetcher of the worker (``MediaFetcher/pulse(_:)``).
  /// - Returns: nil when they ask for nothing.
  /// - Throws: the exit status, once the log has said what stands in the way.
  func start(_ queue: any PayloadQueue, _ figures: any MetricsSource, _ log: Logger, pulses: [MetricsCollector.Pulse]) throws
    -> MetricsService?
  {
    guard metrics != nil || metricsFile != nil else { return nil }
    return try MetricsService(queue, figures, port: metrics, file: metricsFile.map { MetricsFile($0) }, log, pulses: pulses)
  }
}
