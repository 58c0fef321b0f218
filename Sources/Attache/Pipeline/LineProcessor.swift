/// Decides one line after another. A queue's worker, which stores its payloads itself, uses it
/// instead of the filter.
///
/// Only one thread at a time may call ``take(_:identifier:deadline:refusal:decided:)``.
package final class LineProcessor {
  private let payloads: PayloadReader
  private let key: ReportKey?
  private let processor: PayloadProcessor
  private let clock: MonotonicClock

  /// Creates a processor.
  ///
  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: the store of the attachments.
  ///   - clock: the host's clock.
  /// - Throws: ``SystemError`` if there is no memory for a parser.
  package init(
    _ configuration: FilterConfiguration, host: ServiceExtensionHost, store: AttachmentStore, clock: MonotonicClock
  ) throws(SystemError) {
    processor = PayloadProcessor(configuration, host: host, store: store)
    payloads = try processor.makeReader()
    key = try processor.makeReportKey()
    self.clock = clock
  }

  /// Decides a line.
  ///
  /// - Parameters:
  ///   - line: the line with its line ending.
  ///   - identifier: the identifier of the request that the extension receives.
  ///   - deadline: the time by which it must be decided, including its writing.
  ///   - refusal: the reason not to fetch media for it, if any; a payload that names media then
  ///     falls back.
  ///   - decided: called exactly once, before the deadline, with the time from the start to the
  ///     decision: immediately for a line that wakes no extension, otherwise on any thread.
  package func take(
    _ line: [UInt8], identifier: String, deadline: MonotonicInstant, refusal: Reason? = nil,
    decided: @escaping @Sendable (Decision, _ elapsed: Duration) -> Void
  ) {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    let key = key?.value(of: segment)
    switch unsafe segment.withUnsafeBytes({ unsafe payloads.read($0) }) {
    case .invalid(let reason):
      let mistake = unsafe segment.withUnsafeBytes { unsafe JSONMistake(of: $0) }
      decided(Decision(.invalid, reason, LineNote(cause: .json(mistake), key: key)), .zero)
    case .passthrough(_, let reason, let cause): decided(Decision(.passthrough, reason, LineNote(cause: cause, key: key)), .zero)
    case .unopened(let envelope): decided(Decision(.passthrough, .payloadEnvelope, LineNote(cause: .envelope(envelope), key: key)), .zero)
    case .candidates(let payloads):
      if let refusal {
        guard payloads.allSatisfy(\.references.isEmpty) else { return decided(Decision(.fallback, refusal, LineNote(key: key)), .zero) }
        let (reason, cause) = payloads.reasonToPass
        return decided(Decision(.passthrough, reason, LineNote(cause: cause, key: key)), .zero)
      }
      // Due timers take precedence over new payloads, whose deadline is set after this wait.
      clock.waitForOverdueTimers()
      let begun = clock.now
      processor.serve(payloads, of: segment, identifier: identifier, deadline: deadline) { [clock] result in
        var decision = result
        decision.key = key
        decided(decision, begun.duration(to: clock.now))
      }
    }
  }
}
