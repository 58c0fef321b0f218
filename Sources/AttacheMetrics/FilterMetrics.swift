package import Attache
internal import Synchronization

/// The metrics of a filter since its start.
package final class FilterMetrics: MetricsPages {
  private let version: String
  private let payloads = Mutex(PayloadMetrics())
  private let lines = Mutex<@Sendable () -> Int>({ 0 })

  /// - Parameter version: the version of attache.
  package init(version: String) {
    self.version = version
  }

  /// Sets the functions that return the number of lines read, and how long a conversion waits
  /// (``EngineAssembly/conversionWait``).
  package func use(lines: @escaping @Sendable () -> Int, conversionWait: (@Sendable () -> Duration)?) {
    self.lines.withLock { $0 = lines }
    payloads.withLock { $0.conversionWait = conversionWait }
  }

  /// Counts a payload that asks for media, with its decision and the time from its start until then.
  package var observer: @Sendable (Decision, Duration) -> Void {
    { [self] decision, elapsed in
      payloads.withLock { $0.finished(decision.outcome, decision.reason, elapsed: elapsed, media: decision.media) }
    }
  }

  package var text: String {
    var text = MetricsText()
    ProcessMetrics.write(version: version, to: &text)
    text.family("attache_lines_total", .counter, "Lines that the filter has read; also those that ask for no media.")
    text.sample(lines.withLock(\.self)())
    payloads.withLock(\.self).write(to: &text)
    return text.text
  }

  /// A filter that does not answer is not alive: its deadlines do not depend on its fetchers.
  package var liveness: ProcessHealth { .good }
  package var readiness: ProcessHealth { .good }
}
