import Attache
import AttacheArguments
import AttacheQueue
import AttacheTesting

/// Lists the payloads of a queue that a filter selects.
struct PayloadListing {
  /// The maximum number of searches for a list, each of which looks at 20,000 payloads at most. They take about half a
  /// second.
  private static let searches = 25
  /// The maximum length of a payload for people, in characters.
  private static let maximumPayload = 4_096

  private let queue: any QueueAdministration
  private let location: QueueLocation
  private let json: Bool

  init(_ queue: any QueueAdministration, _ location: QueueLocation, json: Bool) {
    (self.queue, self.location, self.json) = (queue, location, json)
  }

  /// Finds the first payloads, within the reach of a list, and whether there are more.
  func find(_ filter: PayloadFilter, after start: Int64, limit: Int) throws -> (found: PayloadMatches, hasMore: Bool) {
    try orExit { () throws(QueueError) in
      var found = PayloadMatches(last: start, isAtEnd: false)
      // One more tells whether there are others.
      for _ in 0..<Self.searches where !found.isAtEnd && found.ids.count <= limit {
        let next = try queue.find(filter, after: found.last, limit: limit + 1 - found.ids.count)
        found = PayloadMatches(ids: found.ids + next.ids, last: next.last, isAtEnd: next.isAtEnd)
      }
      guard found.ids.count > limit else { return (found, false) }
      found.ids.removeLast()
      found.last = found.ids.last ?? start
      return (found, true)
    }
  }

  /// Writes the payloads to standard output, and on standard error how to go on.
  func write(_ filter: PayloadFilter, after start: Int64, limit: Int) throws {
    let (found, hasMore) = try find(filter, after: start, limit: limit)
    let histories = try orExit { () throws(QueueError) in try queue.histories(of: found.ids) }
    if json {
      for history in histories { try StandardOutput.write(history.json()) }
    } else if !histories.isEmpty {
      let now = SystemQueueClock().wall
      try StandardOutput.write(Self.table([PayloadHistory.rowTitles] + histories.map { $0.row(at: now) }))
    }
    if hasMore {
      ErrorOutput.write("attache: there are more; --continue \(found.last) lists them\n")
    } else if !found.isAtEnd {
      ErrorOutput.write("attache: searched up to line \(found.last); --continue \(found.last) goes on\n")
    } else if histories.isEmpty {
      ErrorOutput.write("attache: \(location.message) has no such payload\n")
    }
  }

  /// Aligns columns. Empty columns are left out.
  private static func table(_ rows: [[String]]) -> String {
    let columns = rows[0].indices.filter { column in rows.dropFirst().contains { !$0[column].isEmpty } }
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(columns, widths).map { column, width in row[column] + String(repeating: " ", count: width - row[column].count) }
      return cells.joined(separator: "  ").trimmedEnd + "\n"
    }.joined()
  }

  /// The payload and the fate of its media, for people.
  static func lines(_ content: PayloadContent) -> [String] {
    let line = content.line.drop { $0 == UInt8(ascii: "\n") }
    let text = String(decoding: line.last == UInt8(ascii: "\n") ? line.dropLast() : line, as: UTF8.self)
    let payload = "  payload of \(content.line.count) bytes: \(PrintableText.of(text, maximumLength: maximumPayload))"
    guard let record = content.record, let report = try? ReportLine(parsing: record) else { return [payload] }
    let media = report.media.enumerated().map { index, medium in
      let fate = medium.reason.map { PrintableText.of($0) + (medium.status.map { " \($0)" } ?? "") } ?? "attached"
      let file = medium.type.map { ", \(PrintableText.of($0)), \(medium.bytes) bytes" } ?? ""
      return "  media \(index + 1): \(PrintableText.of(medium.url, maximumLength: 2_048)): \(fate)\(file)"
    }
    return [payload] + media
  }
}

extension String {
  /// The text without spaces at its end.
  fileprivate var trimmedEnd: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
