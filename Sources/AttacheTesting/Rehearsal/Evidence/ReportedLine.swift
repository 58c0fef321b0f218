package import Attache

/// A parsed record of attache's report.
package struct ReportedLine: Sendable, Hashable {
  package struct Medium: Sendable, Hashable {
    package var url: String
    package var reason: Reason?
    package var status: Int?
    package var bytes: Int
    package var type: String?
    package var attempts: Int
    /// The size of the file that a conversion made, in bytes; nil without a conversion.
    package var convertedSize: Int?

    package init(
      url: String, reason: Reason? = nil, status: Int? = nil, bytes: Int = 0, type: String? = nil, attempts: Int = 1,
      convertedSize: Int? = nil
    ) {
      self.url = url
      self.reason = reason
      self.status = status
      self.bytes = bytes
      self.type = type
      self.attempts = attempts
      self.convertedSize = convertedSize
    }
  }

  /// The line number, from 1.
  package var line: Int
  package var outcome: Outcome
  package var reason: Reason?
  /// How long the line waited for its place in the window; nil in another filter's report without
  /// it.
  package var placeWait: Duration?
  /// The time from the line's entry into the window to the decision.
  package var elapsed: Duration
  /// How late the line was written; nil when it was never written.
  package var lateness: Duration?
  package var media: [Medium]
  /// The JSON pointers of the payload's members that a service extension changed.
  package var changed: [String] = []

  package init(
    line: Int, outcome: Outcome, reason: Reason? = nil, placeWait: Duration? = nil, elapsed: Duration = .zero, lateness: Duration? = nil,
    media: [Medium] = []
  ) {
    self.line = line
    self.outcome = outcome
    self.reason = reason
    self.placeWait = placeWait
    self.elapsed = elapsed
    self.lateness = lateness
    self.media = media
  }

  /// Parses a report: one JSON object per line.
  ///
  /// - Throws: ``ReportError`` at the first line that is not a record.
  package static func read(_ bytes: [UInt8]) throws(ReportError) -> [ReportedLine] {
    var records: [ReportedLine] = []
    for text in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let line = try? ReportLine(parsing: text), let record = ReportedLine(line) else {
        throw ReportError(line: records.count + 1, text: String(decoding: text.prefix(200), as: UTF8.self))
      }
      records.append(record)
    }
    return records
  }

  /// Converts milliseconds, limited to a hundred years, because another filter's report can contain
  /// any value.
  private static func duration(_ milliseconds: Double) -> Duration {
    .microseconds(min(max(milliseconds, -3.2e12), 3.2e12) * 1000)
  }

  /// Returns nil for a line without its time, or with a word that is not attache's.
  private init?(_ line: ReportLine) {
    let reasons = ([line.reason] + line.media.map(\.reason)).compactMap(\.self)
    guard let outcome = Outcome(rawValue: line.outcome), let elapsed = line.elapsedMs,
      reasons.allSatisfy({ Reason(rawValue: $0) != nil })
    else { return nil }
    self.init(
      line: line.line, outcome: outcome, reason: line.reason.flatMap(Reason.init(rawValue:)),
      placeWait: line.placeWaitMs.map(Self.duration),
      elapsed: Self.duration(elapsed), lateness: line.latenessMs.map(Self.duration),
      media: line.media.map {
        Medium(
          url: $0.url, reason: $0.reason.flatMap(Reason.init(rawValue:)), status: $0.status, bytes: $0.bytes, type: $0.type,
          attempts: $0.attempts, convertedSize: $0.converted?.size)
      })
    changed = line.changed ?? []
  }
}

/// A line of a report that is not a record.
package struct ReportError: Error, Hashable, CustomStringConvertible {
  /// The line of the report, from 1.
  package var line: Int
  package var text: String

  package var description: String {
    "line \(line) of the report is not a record of attache: \(text)"
  }
}
