/// Decides one line after another. A queue's worker, which stores its payloads itself, uses it
/// instead of the filter.
///
/// Only one thread at a time may call ``take(_:identifier:deadline:refusal:decided:)``.
package final class LineProcessor {
  private let payloads: PayloadReader
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
    switch unsafe segment.withUnsafeBytes({ unsafe payloads.read($0) }) {
    case .invalid(let reason): decided(DecidedPayload(.invalid, reason))
    case .passthrough(_, let reason): decided(DecidedPayload(.passthrough, reason))
    case .unopened(let envelope): decided(DecidedPayload(envelope))
    case .candidates(let payloads):
      if let refusal {
        let isPlain = payloads.allSatisfy(\.references.isEmpty)
        return decided(isPlain ? DecidedPayload(.passthrough, nil) : DecidedPayload(.fallback, refusal))
      }
      processor.waitUntilPunctual()
      let begun = clock.now
      processor.serve(payloads, of: segment, identifier: identifier, deadline: deadline) { [clock] decision in
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
  /// Why an envelope was not opened, in one sentence; nil in all other cases.
  package var why: String?
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

  /// Creates the result of a line that passes because its envelope cannot be opened.
  init(_ envelope: UnopenedEnvelope) {
    self.init(.passthrough, .payloadEnvelope)
    why = envelope.why
  }

  init(_ decision: Decision, of line: Segment, elapsed: Duration) {
    outcome = decision.outcome
    reason = decision.reason
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
    (outcome, self.reason, output, files, changed) = (.fallback, reason, nil, [], [])
  }

  /// Returns the report's record for the line, a JSON object with a line feed.
  ///
  /// - Parameters:
  ///   - line: the number of the line.
  ///   - lateness: the time from its deadline to the delivery of its result.
  ///   - detail: how much of a URL to show.
  package func record(line: Int, lateness: Duration, showing detail: URLDetail) -> [UInt8] {
    var text: [UInt8] = []
    ReportRecord(
      line: line, outcome: outcome, reason: reason, dialect: dialect, elapsed: elapsed, lateness: lateness, media: media, omitted: omitted,
      changed: changed, why: why
    )
    .write(to: &text, showing: detail)
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
