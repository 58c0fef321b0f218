/// A line's place in the window, or that of a run of lines which pass.
struct WindowEntry: Sendable {
  /// What is written there.
  enum Output: Sendable {
    case whole(Segment)
    /// A line with a member put in before the byte at `at`.
    case spliced(Segment, member: Segment, at: Int)

    /// Bytes.
    var count: Int {
      switch self {
      case .whole(let segment): segment.count
      case .spliced(let segment, let member, _): segment.count + member.count
      }
    }
  }

  /// Whom the place belongs to, for the report and the summary.
  enum Account: Sendable {
    /// A further piece of an overlong line, which the first one speaks for.
    case none
    /// `count` lines that pass, numbered from `first`; `kinds` has one for each when there is a
    /// report, else none at all.
    case passing(first: Int, count: Int, kinds: [PassingLine])
    /// A candidate; its lateness is not known yet.
    case payload(ReportRecord)
  }

  /// What a place costs beside its bytes, in bytes: itself, the headers of its blocks and what the
  /// report says of it.
  static let overhead = 256

  /// Nil while it is undecided.
  var output: Output?
  var account: Account
  /// When the line has to be handed to `write`.
  var deadline: MonotonicInstant
  /// Called when the line has been written, or will never be.
  var onRelease: (@Sendable () -> Void)?
  /// When nothing but the writer stood between the line and `write`.
  var ready: MonotonicInstant = .distantPast
  /// The number of the decision, counted from 0 over all places that have an account.
  var decision: UInt64 = 0

  /// What it takes up in the window, in bytes.
  var charge: Int {
    Self.overhead + (output?.count ?? 0)
  }
}
