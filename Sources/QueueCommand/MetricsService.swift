import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging
import Synchronization

/// A worker's figures, served and written while it works.
final class MetricsService: Sendable {
  private let collector: MetricsCollector
  private let server: MetricsServer?
  private let file: MetricsFile?
  private let log: Logger
  /// When the file was written last, and what has stood in its way.
  private let written = Mutex<(at: MonotonicInstant, failure: SystemError?)>((.now, nil))

  private static let fileInterval = Duration.seconds(10)

  /// - Throws: the exit status, once the log has said what stands in the way.
  init(
    _ queue: any PayloadQueue, _ figures: any MetricsSource, port: UInt16?, file: MetricsFile?, _ log: Logger,
    pulses: [MetricsCollector.Pulse]
  ) throws {
    (self.file, self.log) = (file, log)
    collector = try orExit(log, ExitStatus.software) { () throws(SystemError) in
      try MetricsCollector(queue, figures, version: attacheVersion, pulses: pulses)
    }
    if let file {
      do throws(SystemError) {
        try file.write(collector.text)
      } catch {
        log.error("--metrics-file \(PrintableText.of(file.path)): \(error)")
        throw ExitCode(ExitStatus.cannotCreate)
      }
    }
    do throws(MetricsServer.Failure) {
      server = if let port { try MetricsServer(port: port, collector) } else { nil }
    } catch {
      log.error("--metrics \(error)")
      throw ExitCode(ExitStatus.unavailable)
    }
    if let server { log.info("figures at http://127.0.0.1:\(server.port)/metrics") }
    try orExit(log, ExitStatus.software) { () throws(SystemError) in try collector.start { [weak self] in self?.writeWhenDue() } }
  }

  /// Takes down that the worker claims nothing any more: it is no longer ready.
  func drain() {
    collector.drain()
  }

  /// Writes the file a last time and ends everything; before the queue is closed.
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

  /// Writes the file; what stands in the way is said once.
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
