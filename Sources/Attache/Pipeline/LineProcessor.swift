/// Takes one line after another and says what becomes of each. A queue's worker, which keeps its
/// payloads itself, uses it in the place of the filter.
///
/// ``take(_:identifier:deadline:decided:)`` is called by one thread at a time.
package final class LineProcessor {
  private let payloads: PayloadReader
  private let processor: PayloadProcessor
  private let clock: any DeadlineClock

  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: where the attachments are.
  ///   - clock: the host's clock.
  /// - Throws: ``SystemError`` when there is no memory for a parser.
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
  ///   - line: with its ending.
  ///   - identifier: of the request that the extension is given.
  ///   - deadline: when it must be decided, its writing included.
  ///   - refusal: why no media are fetched for it, if so: a payload that names some falls back.
  ///   - decided: called exactly once, before the deadline: at once for a line that no extension is
  ///     woken for, else on any thread.
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
      processor.serve(payloads, identifier: identifier, deadline: deadline) { [clock] decision in
        decided(DecidedPayload(decision, of: segment, elapsed: begun.duration(to: clock.now)))
      }
    }
  }
}

/// What became of a line.
package struct DecidedPayload: Sendable {
  package var outcome: Outcome
  /// Why nothing was attached; nil when something was.
  package var reason: Reason?
  /// Why an envelope was not opened, in one sentence; nil for all else.
  package var why: String?
  /// The vendor's way of naming media that was found in the payload.
  package var dialect: String?
  /// What became of each media reference.
  package var media: [MediaRecord] = []
  /// How many media references more the line names.
  package var omitted = 0
  /// The line with its media; nil is the original, byte for byte.
  package var output: [UInt8]?
  /// What is attached: pinned until ``release()``.
  package var files: [StoredFile] = []
  /// From the beginning to the decision.
  package var elapsed = Duration.zero
  private var onRelease: (@Sendable () -> Void)?

  /// The original, for a reason of the caller's.
  package init(_ outcome: Outcome, _ reason: Reason?) {
    self.outcome = outcome
    self.reason = reason
  }

  /// A line that passes since its envelope stays shut.
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
    self.elapsed = elapsed
    onRelease = decision.onRelease
    guard outcome == .attached else { return }
    output = decision.output(of: line).bytes
    files = decision.files
  }

  /// Unpins what is attached; to be called once, when the result is kept or given up.
  package func release() {
    onRelease?()
  }

  /// Takes the attachments away again, for a reason that came up later.
  package mutating func fallBack(_ reason: Reason) {
    (outcome, self.reason, output, files) = (.fallback, reason, nil, [])
  }

  /// The record that the report has of it, a JSON object with a line feed.
  ///
  /// - Parameters:
  ///   - line: its number.
  ///   - lateness: when its result was handed on, less its deadline.
  ///   - detail: how much of a URL is shown.
  package func record(line: Int, lateness: Duration, showing detail: URLDetail) -> [UInt8] {
    var text: [UInt8] = []
    ReportRecord(
      line: line, outcome: outcome, reason: reason, dialect: dialect, elapsed: elapsed, lateness: lateness, media: media, omitted: omitted,
      why: why
    )
    .write(to: &text, showing: detail)
    return text
  }
}

extension WindowEntry.Output {
  /// What is written, in one piece.
  fileprivate var bytes: [UInt8] {
    switch self {
    case .whole(let segment): segment.bytes
    case .spliced(let segment, let member, let place):
      LineEdit.apply([LineEdit(place..<place, member.bytes)], to: segment.bytes)
    }
  }
}
