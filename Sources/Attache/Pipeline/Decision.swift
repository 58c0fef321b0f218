/// The decision about a line with candidates: its output, and its part of the report.
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

  var form: Form
  var outcome: Outcome
  /// Why nothing was attached; nil if something was.
  package var reason: Reason?
  /// What is known beside the reason.
  var cause: LineCause?
  /// The value at the place of `--report-key`, as JSON; nil without the flag.
  var key: [UInt8]?
  /// The name of the dialect that found media in the payload.
  var dialect: String?
  /// The result of each media reference.
  package var media: [MediaRecord] = []
  /// The size of the line's last payload that got attachments, or would exceed its limit with them;
  /// nil if there is none.
  package var payloadCount: Int?
  /// The number of further media references that the line names.
  var omitted = 0
  /// The JSON pointers of the payload's members that a service extension changed.
  var changed: [String] = []
  /// The attached files.
  var files: [StoredFile] = []
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
