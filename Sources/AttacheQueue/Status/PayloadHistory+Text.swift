internal import Attache
internal import FoundationEssentials

extension PayloadHistory {
  /// The history for people, one line for each event.
  package var lines: [String] {
    var lines = [
      "payload \(id)", "  \(Self.text(enqueuedAt))  enqueued\(priority == NewPayload.usualPriority ? "" : ", priority \(priority)")",
    ]
    if let searchKey { lines.append("  key \(PayloadKey.text(searchKey))") }
    if let notBefore { lines.append("  \(Self.text(notBefore))  not worked before") }
    lines += tries.filter { $0.stage == .work }.map {
      "  \(Self.text($0.moment))  try \($0.attempt) of the work: \(PrintableText.of($0.text))"
    }
    if let work { lines.append("  no result yet: \(work.rawValue)\(turn)") }
    if let result {
      let reason = result.reason.map { ", \(PrintableText.of($0))" } ?? ""
      lines.append("  \(Self.text(result.finishedAt))  \(result.outcome)\(reason)\(result.isDead ? ": it ended its workers" : "")")
      lines += tries.filter { $0.stage == .delivery }.map {
        "  \(Self.text($0.moment))  try \($0.attempt) of the delivery: \(PrintableText.of($0.text))"
      }
      if let standing = result.delivery { lines.append("  undelivered: \(standing.rawValue)\(turn)") }
      if let status = result.status {
        let answer = result.answer.map { $0.isEmpty ? "" : ": \(PrintableText.of($0))" } ?? ""
        let moment = result.deliveredAt.map { "\(Self.text($0))  " } ?? ""
        lines.append("  \(moment)\(status)\(answer)")
      }
    }
    if let expiresAt { lines.append("  \(Self.text(expiresAt))  expires") }
    return lines
  }

  /// Who has the payload, and when it is ready again.
  private var turn: String {
    let due = dueAt.map { Self.text($0) }
    if let holder { return ", by \(PrintableText.of(holder))\(due.map { " until \($0) unless it goes on" } ?? "")" }
    return due.map { ", ready from \($0)" } ?? ""
  }

  /// The titles of ``row(at:)``.
  package static let rowTitles = ["line", "state", "enqueued", "tries", "due", "key", "last answer or reason"]

  /// What a list says of the payload.
  ///
  /// - Parameter wall: the wall clock time since 1970.
  package func row(at wall: Duration) -> [String] {
    let last = tries.last { $0.stage == (result == nil ? .work : .delivery) }
    // The end of a lease is no next try.
    let isLeased = state == .leased || result?.delivery == .leased
    let due = isLeased ? "" : dueAt.map { $0 > wall ? "in \(QueueStatus.span($0 - wall))" : "now" } ?? ""
    let reason = result?.reason.map { PrintableText.of($0) }
    let answer = (result?.answer ?? last?.text).map { PrintableText.of($0) }
    return [
      "\(id)", state.rawValue, "\(QueueStatus.span(wall - enqueuedAt)) ago", last.map { "\($0.attempt)" } ?? "", due,
      searchKey.map(PayloadKey.text) ?? "", [answer, reason].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; "),
    ]
  }

  /// The history as one JSON object with a line feed. Times are in RFC 3339 format.
  ///
  /// - Parameter content: adds the payload, and the report's record.
  package func json(_ content: PayloadContent? = nil) -> String {
    var writer = JSONWriter()
    func moment(_ name: String, _ moment: Duration?) {
      writer.key(name)
      if let moment { writer.string(Self.text(moment)) } else { writer.null() }
    }
    func text(_ name: String, _ text: String?) {
      writer.key(name)
      if let text { writer.string(text) } else { writer.null() }
    }
    writer.beginObject()
    writer.key("line")
    writer.integer(Int(id))
    text("state", state.rawValue)
    writer.key("priority")
    writer.integer(priority)
    moment("enqueued", enqueuedAt)
    moment("not_before", notBefore)
    moment("expires", expiresAt)
    text("work", work?.rawValue)
    text("key", searchKey.map(PayloadKey.value))
    text("holder", holder)
    moment("due", dueAt)
    writer.key("tries")
    writer.beginArray()
    for event in tries {
      writer.beginObject()
      text("stage", event.stage == .work ? "work" : "delivery")
      writer.key("attempt")
      writer.integer(event.attempt)
      moment("time", event.moment)
      text("text", event.text)
      writer.endObject()
    }
    writer.endArray()
    if let result {
      text("outcome", result.outcome)
      text("reason", result.reason)
      writer.key("dead")
      writer.boolean(result.isDead)
      moment("finished", result.finishedAt)
      text("delivery", result.status ?? result.delivery?.rawValue)
      text("answer", result.answer)
      moment("delivered", result.deliveredAt)
    }
    if let content {
      text("payload", String(decoding: content.line, as: UTF8.self))
      text("output", content.output.map { String(decoding: $0, as: UTF8.self) })
      writer.key("record")
      if let record = content.record {
        writer.source(record.filter { $0 != UInt8(ascii: "\n") })
      } else {
        writer.null()
      }
    }
    writer.endObject()
    return String(decoding: PrintableText.ofJSON(writer.bytes), as: UTF8.self) + "\n"
  }

  /// A time in the form 2026-11-21T18:00:00.123Z.
  static func text(_ moment: Duration) -> String {
    Date(timeIntervalSince1970: moment / .seconds(1)).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
