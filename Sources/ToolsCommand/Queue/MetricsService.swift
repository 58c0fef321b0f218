import ArgumentParser
import Attache
import AttacheArguments
import AttacheMetrics
import AttacheQueue
import Logging
import Synchronization

/// Serves and writes the metrics of a worker or a deliverer while it runs.
final class MetricsService: Sendable {
  private let collector: MetricsCollector
  private let server: MetricsServer?
  private let file: MetricsFile?
  private let log: Logger
  /// When the file was last written, and the error of that attempt.
  private let written = Mutex<(at: MonotonicInstant, failure: SystemError?)>((.now, nil))

  private static let fileInterval = Duration.seconds(10)

  /// Starts the service, before the queue is opened: a process that waits for a lock of the queue
  /// says so.
  ///
  /// - Parameter options: where to serve the metrics.
  /// - Throws: the exit status, after the problem is logged.
  init(_ figures: any MetricsSource, _ options: MetricsServerOptions, file: MetricsFile?, _ log: Logger) throws {
    (self.file, self.log) = (file, log)
    collector = try orExit(log, ExitStatus.software) {
      try MetricsCollector(nil, figures, version: attacheVersion)
    }
    if let file {
      do throws(SystemError) {
        try file.write(collector.text)
      } catch {
        log.error("--metrics-file \(PrintableText.of(file.path)): \(error)")
        throw ExitCode(ExitStatus.cannotCreate)
      }
    }
    server = try options.start(collector, log)
  }

  /// Begins to read the status of the queue.
  ///
  /// - Parameter pulses: functions that request the state of each of the worker's fetchers
  ///   (``MediaFetcher/pulse(_:)``).
  /// - Throws: the exit status, after the problem is logged.
  func watch(_ queue: any PayloadQueue, pulses: [MetricsCollector.Pulse]) throws {
    collector.use(queue, pulses: pulses)
    try orExit(log, ExitStatus.software) { try collector.start { [weak self] in self?.writeWhenDue() } }
  }

  /// Records that no more payloads are claimed: the process is no longer ready.
  func drain() {
    collector.drain()
  }

  /// Writes the file a last time and ends everything. Call it before the queue is closed.
  func stop() {
    collector.stop()
    collector.look()
    write()
    server?.stop()
  }

  private func writeWhenDue() {
    guard written.withLock({ $0.at.duration(to: .now) >= Self.fileInterval }) else { return }
    write()
  }

  /// Writes the file. An error is logged once, until it changes.
  private func write() {
    guard let file else { return }
    var failure: SystemError?
    do throws(SystemError) {
      try file.write(collector.text)
    } catch {
      failure = error
    }
    let before = written.withLock { written in
      defer { written = (.now, failure) }
      return written.failure
    }
    if let failure, failure != before { log.warning("--metrics-file \(PrintableText.of(file.path)): \(failure)") }
  }
}
