/// What became of all lines: counted as they go, said in one line at the end.
public struct Summary: Hashable, Sendable {
  private struct Fate: Hashable {
    var outcome: Outcome
    var reason: Reason?
  }

  private var counts: [Fate: Int] = [:]
  /// Lines that were handed to `write` after their deadline.
  public var lateLines = 0
  /// Offers and decisions that came after their payload was decided, and were dropped.
  public var droppedOffers = 0
  /// Bytes of the lines that were read, endings included.
  public var bytesRead = 0
  /// Bytes that were written to the output.
  public var bytesWritten = 0

  public init() {}

  /// All lines.
  public var lines: Int {
    counts.values.reduce(0, +)
  }

  /// The lines that came to an outcome.
  public func lines(_ outcome: Outcome) -> Int {
    counts.reduce(0) { $0 + ($1.key.outcome == outcome ? $1.value : 0) }
  }

  /// The lines that came to an outcome for a reason.
  public func lines(_ outcome: Outcome, _ reason: Reason?) -> Int {
    counts[Fate(outcome: outcome, reason: reason), default: 0]
  }

  /// Counts lines with one fate.
  public mutating func count(_ outcome: Outcome, _ reason: Reason?, lines: Int = 1) {
    guard lines > 0 else { return }
    counts[Fate(outcome: outcome, reason: reason), default: 0] += lines
  }

  /// Adds what another thread counted.
  public mutating func merge(_ other: Summary) {
    counts.merge(other.counts, uniquingKeysWith: +)
    lateLines += other.lateLines
    droppedOffers += other.droppedOffers
    bytesRead += other.bytesRead
    bytesWritten += other.bytesWritten
  }

  /// The summary in one line, such as `1000 lines: 900 attached, 40 fallback (deadline 30,
  /// http.status 10), 60 passthrough, 0 invalid; 12.3 s`.
  ///
  /// - Parameter elapsed: how long the run took.
  public func text(elapsed: Duration) -> String {
    let outcomes = Outcome.allCases.map { "\(lines($0)) \($0.rawValue)\(reasons(of: $0))" }.joined(separator: ", ")
    let late = lateLines > 0 ? "; \(lateLines) late" : ""
    let dropped = droppedOffers > 0 ? "; \(droppedOffers) dropped" : ""
    return "\(lines) \(lines == 1 ? "line" : "lines"): \(outcomes)\(late)\(dropped); \(Self.seconds(elapsed)) s"
  }

  /// The reasons of an outcome, the most frequent first. What is invalid has only one.
  private func reasons(of outcome: Outcome) -> String {
    guard outcome != .invalid else { return "" }
    let reasons = counts.compactMap { fate, lines in fate.outcome == outcome ? fate.reason.map { ($0.rawValue, lines) } : nil }
    let texts = reasons.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { "\($0) \($1)" }
    return texts.isEmpty ? "" : " (\(texts.joined(separator: ", ")))"
  }

  /// Seconds to a tenth.
  private static func seconds(_ duration: Duration) -> String {
    let tenths = (duration.nanoseconds + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
