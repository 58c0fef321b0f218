/// The entry of a line, or of a run of passing lines, in the window.
struct WindowEntry: Sendable {
  /// The bytes to write.
  enum Output: Sendable {
    case whole(Segment)
    /// A line with a member inserted before the byte at `at`.
    case spliced(Segment, member: Segment, at: Int)

    /// The number of bytes.
    var count: Int {
      switch self {
      case .whole(let segment): segment.count
      case .spliced(let segment, let member, _): segment.count + member.count
      }
    }
  }

  /// What the entry contributes to the report and the summary.
  enum Account: Sendable {
    /// A further piece of an overlong line. The first piece is counted for the whole line.
    case none
    /// `count` passing lines, numbered from `first`. `reasons` has one element for each if there is a
    /// report; otherwise it is empty.
    case passing(first: Int, count: Int, reasons: [Reason])
    /// A candidate, or a passing line with a record of its own; its lateness is not known yet.
    case payload(ReportRecord)
  }

  /// The cost of an entry besides its bytes, in bytes: the entry itself, the headers of its blocks
  /// and its part of the report.
  static let overhead = 256

  /// Nil while the line is undecided.
  var output: Output?
  var account: Account
  /// The time by which the line must be passed to `write`.
  var deadline: MonotonicInstant
  /// How long the line waited for this entry. Zero if there is no report.
  var waited = Duration.zero
  /// Called when the line has been written, or will never be.
  var onRelease: (@Sendable () -> Void)?
  /// The time from which the line waited only for the writer.
  var ready: MonotonicInstant = .distantPast

  /// The space in the window, in bytes.
  var charge: Int {
    Self.overhead + (output?.count ?? 0)
  }
}
