/// The decision about a line: its output, and its part of the report.
package struct Decision: Sendable {
  /// The output of a line.
  enum Form: Sendable {
    /// The unchanged line.
    case original
    /// The line with `member` inserted before the byte at `at`, counted from the start of the line.
    case spliced(member: [UInt8], at: Int)
    /// The line with several edits.
    case edited([LineEdit])
  }

  var form = Form.original
  package var outcome: Outcome
  /// Why nothing was attached; nil if something was.
  package var reason: Reason?
  /// What is known beside the reason.
  package var cause: LineCause?
  /// The value at the place of `--report-key`, as JSON; nil without the flag.
  var key: [UInt8]?
  /// The name of the dialect that found media in the payload.
  package var dialect: String?
  /// The result of each media reference.
  package var media: [MediaRecord] = []
  /// The size of the line's last payload that got attachments, or would exceed its limit with them;
  /// nil if there is none.
  package var payloadCount: Int?
  /// The number of further media references that the line names.
  var omitted = 0
  /// The JSON pointers of the payload's members that a service extension changed.
  var changed: [String] = []
  /// What was cut from the bodies of the line's payloads; nil for nothing.
  var bodyCut: BodyCut?
  /// The attached files, pinned until ``onRelease`` is called.
  package var files: [StoredFile] = []
  /// Releases resources when the line has been written, or will never be.
  package var onRelease: (@Sendable () -> Void)?

  /// Records that the last media are not attached, for the reason of their payload.
  mutating func refuse(last count: Int, for reason: Reason) {
    for index in media.indices.suffix(count) where media[index].reason == nil { media[index].reason = reason }
  }

  /// The status of the response that is the reason; nil for any other reason.
  var status: Int? { media.status(for: reason) }

  /// Returns the bytes to write for `line`.
  func output(of line: Segment) -> WindowEntry.Output {
    switch form {
    case .original: .whole(line)
    case .spliced(let member, let place):
      .spliced(line, member: Segment(copying: member), at: place)
    case .edited(let edits): .whole(line.applying(edits))
    }
  }
}

extension Decision {
  /// A line that keeps its original.
  package init(_ outcome: Outcome, _ reason: Reason?) {
    self.init(outcome: outcome, reason: reason)
  }

  init(_ outcome: Outcome, _ reason: Reason, _ note: LineNote) {
    self.init(outcome: outcome, reason: reason, cause: note.cause, key: note.key)
  }

  /// Returns the line with its media; nil means the original, byte for byte.
  package func output(of line: [UInt8]) -> [UInt8]? {
    switch form {
    case .original: nil
    case .spliced(let member, let place): LineEdit.apply([LineEdit(place..<place, member)], to: line)
    case .edited(let edits): LineEdit.apply(edits, to: line)
    }
  }

  /// Removes the attachments, for a reason that occurred later.
  package mutating func fallBack(_ reason: Reason) {
    (form, outcome, self.reason, cause, files, changed, bodyCut) = (.original, .fallback, reason, nil, [], [], nil)
  }

  /// Returns what the report and the summary need: without a report, no media.
  func reported(isReporting: Bool) -> Decision {
    var reported = self
    (reported.form, reported.files, reported.onRelease) = (.original, [], nil)
    if !isReporting { (reported.media, reported.changed, reported.cause) = ([], [], nil) }
    return reported
  }
}
