/// The results of all lines: counted during the run, and formatted as one line at its end.
public struct Summary: Hashable, Sendable {
  private struct OutcomeKey: Hashable {
    var outcome: Outcome
    var reason: Reason?
    /// The status of the response that is the reason.
    var status: Int?
  }

  private var counts: [OutcomeKey: Int] = [:]
  /// The number of lines that were passed to `write` after their deadline.
  public var lateLines = 0
  /// The number of offers and decisions that were dropped because their payload was already
  /// decided.
  public var droppedOffers = 0
  /// The number of bytes of the lines read, including line endings.
  public var bytesRead = 0
  /// The number of bytes written to the output.
  public var bytesWritten = 0

  /// Makes an empty summary.
  public init() {}

  /// The number of all lines.
  public var lines: Int {
    counts.values.reduce(0, +)
  }

  /// Returns the number of lines with an outcome.
  public func lines(_ outcome: Outcome) -> Int {
    counts.reduce(0) { $0 + ($1.key.outcome == outcome ? $1.value : 0) }
  }

  /// Returns the number of lines with an outcome and a reason.
  public func lines(_ outcome: Outcome, _ reason: Reason?) -> Int {
    counts.reduce(0) { $0 + ($1.key.outcome == outcome && $1.key.reason == reason ? $1.value : 0) }
  }

  /// Counts lines with one outcome and reason. Does nothing unless `lines` is positive.
  ///
  /// - Parameter status: the status of the response, if it is the reason (``Reason/httpStatus``).
  public mutating func count(_ outcome: Outcome, _ reason: Reason?, status: Int? = nil, lines: Int = 1) {
    guard lines > 0 else { return }
    counts[OutcomeKey(outcome: outcome, reason: reason, status: status), default: 0] += lines
  }

  /// Adds the counts of another summary.
  public mutating func merge(_ other: Summary) {
    counts.merge(other.counts, uniquingKeysWith: +)
    lateLines += other.lateLines
    droppedOffers += other.droppedOffers
    bytesRead += other.bytesRead
    bytesWritten += other.bytesWritten
  }

  /// Returns the summary as one line, such as `1000 lines: 900 attached, 40 fallback (deadline 30,
  /// http.status 10 (404: 8, 503: 2)), 60 passthrough (payload.silent 60), 0 invalid; 12.3 s`.
  ///
  /// - Parameter elapsed: the duration of the run.
  public func text(elapsed: Duration) -> String {
    let outcomes = Outcome.allCases.map { "\(lines($0)) \($0.rawValue)\(reasons(of: $0))" }.joined(separator: ", ")
    let late = lateLines > 0 ? "; \(lateLines) late" : ""
    let dropped = droppedOffers > 0 ? "; \(droppedOffers) dropped" : ""
    return "\(lines) \(lines == 1 ? "line" : "lines"): \(outcomes)\(late)\(dropped); \(Self.seconds(elapsed)) s"
  }

  /// Returns the reasons of an outcome, the most frequent first. Returns none for `invalid`, which
  /// has only one reason.
  private func reasons(of outcome: Outcome) -> String {
    guard outcome != .invalid else { return "" }
    var reasons: [Reason: [Int?: Int]] = [:]
    for (key, lines) in counts where key.outcome == outcome {
      if let reason = key.reason { reasons[reason, default: [:]][key.status, default: 0] += lines }
    }
    let totals = reasons.map { (reason: $0, lines: $1.values.reduce(0, +), statuses: Self.text($1)) }
    let texts = totals.sorted { ($1.lines, $0.reason.rawValue) < ($0.lines, $1.reason.rawValue) }
      .map { "\($0.reason.rawValue) \($0.lines)\($0.statuses)" }
    return texts.isEmpty ? "" : " (\(texts.joined(separator: ", ")))"
  }

  /// The maximum number of statuses to list.
  private static let maximumStatuses = 10

  /// Returns the lines by status, the most frequent first.
  private static func text(_ lines: [Int?: Int]) -> String {
    let known = lines.compactMap { status, lines in status.map { (status: $0, lines: lines) } }
    guard !known.isEmpty else { return "" }
    let sorted = known.sorted { ($1.lines, $0.status) < ($0.lines, $1.status) }
    let rest = sorted.dropFirst(maximumStatuses).reduce(0) { $0 + $1.lines }
    let texts = sorted.prefix(maximumStatuses).map { "\($0.status): \($0.lines)" } + (rest > 0 ? ["others: \(rest)"] : [])
    return " (\(texts.joined(separator: ", ")))"
  }

  /// Returns seconds, rounded to a tenth.
  private static func seconds(_ duration: Duration) -> String {
    let tenths = (duration.nanoseconds + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
