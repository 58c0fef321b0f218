/// The results of all lines: counted during the run, and formatted as one line at its end.
public struct Summary: Hashable, Sendable {
  private struct Fate: Hashable {
    var outcome: Outcome
    var reason: Reason?
  }

  private var counts: [Fate: Int] = [:]
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
    counts[Fate(outcome: outcome, reason: reason), default: 0]
  }

  /// Counts lines with one outcome and reason. Does nothing unless `lines` is positive.
  public mutating func count(_ outcome: Outcome, _ reason: Reason?, lines: Int = 1) {
    guard lines > 0 else { return }
    counts[Fate(outcome: outcome, reason: reason), default: 0] += lines
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
  /// http.status 10), 60 passthrough, 0 invalid; 12.3 s`.
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
    let reasons = counts.compactMap { fate, lines in fate.outcome == outcome ? fate.reason.map { ($0.rawValue, lines) } : nil }
    let texts = reasons.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { "\($0) \($1)" }
    return texts.isEmpty ? "" : " (\(texts.joined(separator: ", ")))"
  }

  /// Returns seconds, rounded to a tenth.
  private static func seconds(_ duration: Duration) -> String {
    let tenths = (duration.nanoseconds + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
