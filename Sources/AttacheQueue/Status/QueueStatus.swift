internal import Attache

/// The status of a queue, as text and as JSON.
package struct QueueStatus: Sendable {
  package var queue: QueueLocation
  package var counts: QueueCounts
  /// Results per second.
  package var rate: Double

  package init(_ queue: QueueLocation, _ counts: QueueCounts, rate: Double) {
    self.queue = queue
    self.counts = counts
    self.rate = rate
  }

  /// The time that the remaining payloads need at this rate; nil when there are none, or the rate
  /// is 0.
  package var timeLeft: Duration? {
    guard counts.undecided > 0, rate > 0 else { return nil }
    let seconds = Double(counts.undecided) / rate
    return seconds < 1e9 ? .seconds(seconds.rounded(.up)) : nil
  }

  /// The status for people, in several lines without line feeds.
  package var lines: [String] {
    let rows = PayloadState.allCases.map { (state: $0.rawValue, count: counts[$0], note: note($0)) }
    let width = rows.map { Self.grouped($0.count).count }.max() ?? 0
    var lines = ["\(queue.message): \(Self.grouped(counts.total)) payload\(counts.total == 1 ? "" : "s")"]
    lines += rows.map { state, count, note in
      let (name, number) = (Self.padded(state, to: 11), Self.grouped(count))
      return "  \(name)\(Self.padded("", to: width - number.count))\(number)\(note.isEmpty ? "" : "  \(note)")"
    }
    if let oldest = counts.oldestUndecided { lines.append("the oldest without a result was enqueued \(Self.span(oldest)) ago") }
    if let oldest = counts.oldest[.done] { lines.append("the oldest undelivered was enqueued \(Self.span(oldest)) ago") }
    lines += counts.pauses.map { pause in
      let reason = pause.reason.map { ": \(PrintableText.of($0))" } ?? ""
      return "the \(pause.stage.name) is paused since \(PayloadHistory.text(pause.since))\(reason)"
    }
    lines.append("\(Self.grouped(counts.finishedLastMinute)) results in the last minute; \(pace)")
    return lines
  }

  private func note(_ state: PayloadState) -> String {
    switch state {
    case .waiting: return counts[.waiting] > 0 ? "not due yet" : ""
    case .done: return counts.delivering > 0 ? "\(Self.grouped(counts.delivering)) with a deliverer" : ""
    case .dead:
      let undelivered = counts.unread - counts[.done]
      return undelivered > 0 ? "\(Self.grouped(undelivered)) undelivered" : ""
    default: return ""
    }
  }

  /// The status in one line. It has the rarer states only if they have payloads.
  package var line: String {
    let states = PayloadState.allCases.filter { counts[$0] > 0 || [.ready, .waiting, .leased, .done, .delivered].contains($0) }
    let numbers = states.map { "\(counts[$0]) \($0.rawValue)" }.joined(separator: ", ")
    let paused = counts.pauses.isEmpty ? "" : ", \(counts.pauses.map(\.stage.name).joined(separator: " and ")) paused"
    return "\(counts.total) payload\(counts.total == 1 ? "" : "s"): \(numbers); \(pace)\(paused)"
  }

  private var pace: String {
    let number =
      switch rate {
      case ...0: "0"
      case ..<0.1: "less than 0.1"
      case ..<10: "\((rate * 10).rounded() / 10)"
      default: Self.grouped(Int(min(rate.rounded(), 1e15)))
      }
    return "\(number)/s" + (timeLeft.map { ", \(Self.span($0)) left" } ?? "")
  }

  /// The status as one JSON object with a line feed.
  package var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("queue")
    writer.string("\(queue)")
    let states = PayloadState.allCases.map { ($0.rawValue, counts[$0]) }
    let sums = [
      ("undecided", counts.undecided), ("decided", counts.decided), ("unread", counts.unread), ("delivering", counts.delivering),
      ("total", counts.total),
    ]
    for (name, count) in states + sums {
      writer.key(name)
      writer.integer(count)
    }
    for (name, oldest) in [("oldest_s", counts.oldestUndecided), ("oldest_undelivered_s", counts.oldest[.done])] {
      writer.key(name)
      if let oldest { writer.double(oldest.milliseconds.rounded() / 1_000) } else { writer.null() }
    }
    writer.key("finished_last_minute")
    writer.integer(counts.finishedLastMinute)
    writer.key("rate_per_s")
    writer.double((rate * 1_000).rounded() / 1_000)
    writer.key("left_s")
    if let timeLeft { writer.integer(timeLeft.components.seconds) } else { writer.null() }
    writer.key("paused")
    writer.beginArray()
    for pause in counts.pauses {
      writer.beginObject()
      writer.member("stage", pause.stage.name)
      writer.member("since", PayloadHistory.text(pause.since))
      writer.member("reason", pause.reason)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  /// Formats a number with commas between thousands.
  private static func grouped(_ number: Int) -> String {
    var (text, rest) = ("", String(number))
    while rest.count > 3 {
      text = "," + rest.suffix(3) + text
      rest.removeLast(3)
    }
    return rest + text
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Formats a span in its largest unit and the next: `2d 3h`, `4m 5s`, `1h`.
  static func span(_ span: Duration) -> String {
    let seconds = max(0, span.components.seconds)
    let units: [(name: String, length: Int64)] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
    let first = units.firstIndex { seconds >= $0.length } ?? units.count - 1
    let next = first + 1 < units.count ? units[first + 1] : units[first]
    let rest = seconds % units[first].length / next.length
    return "\(seconds / units[first].length)\(units[first].name)" + (rest > 0 ? " \(rest)\(next.name)" : "")
  }
}
