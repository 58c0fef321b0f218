/// What was decided about a line with candidates: how its line leaves, and what the report says of
/// it.
struct Decision: Sendable {
  /// How a line leaves.
  enum Form: Sendable {
    /// As it came.
    case original
    /// As it came, with `member` put in before the byte at `at`, counted from the start of the
    /// line.
    case spliced(member: [UInt8], at: Int)
    /// As it came, with several changes.
    case edited([LineEdit])
  }

  var form: Form
  var outcome: Outcome
  /// Why nothing was attached; nil when something was.
  var reason: Reason?
  /// The vendor's way of naming media that was found in the payload.
  var dialect: String?
  /// What became of each media reference.
  var media: [MediaRecord] = []
  /// How many media references more the line names.
  var omitted = 0
  /// What is attached.
  var files: [StoredFile] = []
  /// What is to be let go of when the line has been written, or will never be.
  var onRelease: (@Sendable () -> Void)?

  /// What is written for `line`.
  func output(of line: Segment) -> WindowEntry.Output {
    switch form {
    case .original: .whole(line)
    case .spliced(let member, let place):
      .spliced(line, member: Segment(copying: member), at: place)
    case .edited(let edits): .whole(line.applying(edits))
    }
  }
}
