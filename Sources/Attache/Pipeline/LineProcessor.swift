/// Decides one line after another. A queue's worker, which stores its payloads itself, uses it
/// instead of the filter.
///
/// Only one thread at a time may call ``take(_:identifier:deadline:refusal:decided:)``.
package final class LineProcessor {
  private let payloads: PayloadReader
  private let key: ReportKey?
  private let processor: PayloadProcessor
  private let clock: any DeadlineClock

  /// Creates a processor.
  ///
  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: the store of the attachments.
  ///   - clock: the host's clock.
  /// - Throws: ``SystemError`` if there is no memory for a parser.
  package init(
    _ configuration: Filter.Configuration, host: ServiceExtensionHost, store: AttachmentStore, clock: any DeadlineClock
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
  ///   - decided: called exactly once, before the deadline: immediately for a line that wakes no
  ///     extension, otherwise on any thread.
  package func take(
    _ line: [UInt8], identifier: String, deadline: MonotonicInstant, refusal: Reason? = nil,
    decided: @escaping @Sendable (DecidedPayload) -> Void
  ) {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    let key = key?.value(of: segment)
    switch unsafe segment.withUnsafeBytes({ unsafe payloads.read($0) }) {
    case .invalid(let reason):
      let mistake = unsafe segment.withUnsafeBytes { unsafe JSONMistake(of: $0) }
      decided(DecidedPayload(.invalid, reason, LineNote(cause: .json(mistake), key: key)))
    case .passthrough(_, let reason, let cause): decided(DecidedPayload(.passthrough, reason, LineNote(cause: cause, key: key)))
    case .unopened(let envelope): decided(DecidedPayload(.passthrough, .payloadEnvelope, LineNote(cause: .envelope(envelope), key: key)))
    case .candidates(let payloads):
      if let refusal {
        guard payloads.allSatisfy(\.references.isEmpty) else { return decided(DecidedPayload(.fallback, refusal, LineNote(key: key))) }
        let (reason, cause) = payloads.reasonToPass
        return decided(DecidedPayload(.passthrough, reason, LineNote(cause: cause, key: key)))
      }
      processor.waitForOverdueTimers()
      let begun = clock.now
      processor.serve(payloads, of: segment, identifier: identifier, deadline: deadline) { [clock] result in
        var decision = result
        decision.key = key
        decided(DecidedPayload(decision, of: segment, elapsed: begun.duration(to: clock.now)))
      }
    }
  }
}

/// The result of a line.
package struct DecidedPayload: Sendable {
  package var outcome: Outcome
  /// Why nothing was attached; nil if something was.
  package var reason: Reason?
  /// What is known beside the reason.
  package var cause: LineCause?
  /// The value at the place of `--report-key`, as JSON; nil if no line was read or without the flag.
  private var key: [UInt8]?
  /// The name of the dialect that found media in the payload.
  package var dialect: String?
  /// The result of each media reference.
  package var media: [MediaRecord] = []
  /// The number of further media references that the line names.
  package var omitted = 0
  /// The JSON pointers of the members that a service extension changed.
  package var changed: [String] = []
  /// The line with its media; nil means the original, byte for byte.
  package var output: [UInt8]?
  /// The attached files, pinned until ``release()``.
  package var files: [StoredFile] = []
  /// The time from the start to the decision.
  package var elapsed = Duration.zero
  private var onRelease: (@Sendable () -> Void)?

  /// Creates a result with the original, for a reason that the caller gives.
  package init(_ outcome: Outcome, _ reason: Reason?) {
    self.outcome = outcome
    self.reason = reason
  }

  fileprivate init(_ outcome: Outcome, _ reason: Reason, _ note: LineNote) {
    self.init(outcome, reason)
    (cause, key) = (note.cause, note.key)
  }

  init(_ decision: Decision, of line: Segment, elapsed: Duration) {
    outcome = decision.outcome
    (reason, cause, key) = (decision.reason, decision.cause, decision.key)
    dialect = decision.dialect
    media = decision.media
    omitted = decision.omitted
    changed = decision.changed
    self.elapsed = elapsed
    onRelease = decision.onRelease
    guard outcome == .attached else { return }
    output = decision.output(of: line).bytes
    files = decision.files
  }

  /// Unpins the attached files. Call it once, when the result is stored or discarded.
  package func release() {
    onRelease?()
  }

  /// Removes the attachments from the result, for a reason that occurred later.
  package mutating func fallBack(_ reason: Reason) {
    (outcome, self.reason, cause, output, files, changed) = (.fallback, reason, nil, nil, [], [])
  }

  /// Returns the report's record for the line, a JSON object with a line feed.
  ///
  /// - Parameters:
  ///   - line: the number of the line.
  ///   - lateness: the time from its deadline to the delivery of its result.
  ///   - configuration: how much of a URL to show, and whether to repeat a value of the line.
  package func record(line: Int, lateness: Duration, _ configuration: Filter.Configuration) -> [UInt8] {
    var text: [UInt8] = []
    ReportRecord(
      line: line, outcome: outcome, reason: reason, dialect: dialect, elapsed: elapsed, lateness: lateness, media: media, omitted: omitted,
      changed: changed, cause: cause, key: configuration.reportKey == nil ? nil : key ?? ReportKey.none
    )
    .write(to: &text, showing: configuration.urlDetail)
    return text
  }
}

extension WindowEntry.Output {
  /// The bytes to write, in one piece.
  fileprivate var bytes: [UInt8] {
    switch self {
    case .whole(let segment): segment.bytes
    case .spliced(let segment, let member, let place):
      LineEdit.apply([LineEdit(place..<place, member.bytes)], to: segment.bytes)
    }
  }
}
