/// The report's record of one line.
///
/// Every line has times, because every line enters the window. A passing line is decided when it
/// enters (`elapsed` is zero), but may still wait for an earlier one, so its `lateness` is a number
/// like any other's. Before a line enters, it may wait for a place (`placeWait`), from when the
/// reader has the whole line and is done with the lines before it.
struct ReportRecord: Sendable {
  /// The number of the line, counted from 1.
  var line: Int
  var decision: Decision
  /// How long it waited for its place in the window. A payload of a queue takes its place when it is
  /// claimed, and waits for none.
  var placeWait = Duration.zero
  /// The time from its entry into the window to the decision.
  var elapsed: Duration
  /// The time from its deadline to the call of `write`; negative if early. Nil before that call.
  var lateness: Duration?
  /// The status of the response that is the reason. Without a report, the decision has no media.
  var status: Int?

  /// Appends the record to `text` as a JSON object and a line feed.
  ///
  /// - Parameter detail: how much of a URL to show.
  func write(to text: inout [UInt8], showing detail: URLDetail) {
    var json = JSONWriter()
    json.beginObject()
    json.member("line", line)
    json.member("outcome", decision.outcome.rawValue)
    json.member("reason", decision.reason?.rawValue)
    json.member("dialect", decision.dialect)
    json.member("place_wait_ms", placeWait)
    json.member("elapsed_ms", elapsed)
    json.member("lateness_ms", lateness)
    json.key("media")
    json.beginArray()
    for medium in decision.media { medium.write(to: &json, showing: detail) }
    json.endArray()
    if decision.omitted > 0 { json.member("omitted", decision.omitted) }
    if !decision.changed.isEmpty {
      json.key("changed")
      json.beginArray()
      for pointer in decision.changed { json.string(UntrustedText(pointer)) }
      json.endArray()
    }
    if let cut = decision.bodyCut {
      json.key("body_cut")
      json.beginObject()
      json.member("from", cut.from)
      json.member("to", cut.to)
      json.endObject()
    }
    if let column = decision.cause?.column { json.member("column", column) }
    if let cause = decision.cause { json.member("why", cause.text) }
    if let key = decision.key {
      json.key("key")
      json.source(PrintableText.ofJSON(key))
    }
    json.endObject()
    text += json.bytes
    text.append(UInt8(ascii: "\n"))
  }
}

extension Decision {
  /// Returns the report's record for a payload of a queue, a JSON object with a line feed.
  ///
  /// - Parameters:
  ///   - line: the number of the payload.
  ///   - elapsed: the time from its start to the decision.
  ///   - lateness: the time from its deadline to the delivery of its result.
  ///   - configuration: how much of a URL to show, and whether to repeat a value of the line.
  package func record(line: Int, elapsed: Duration, lateness: Duration, _ configuration: FilterConfiguration) -> [UInt8] {
    var record = ReportRecord(line: line, decision: self, elapsed: elapsed, lateness: lateness)
    record.decision.key = configuration.reportKey == nil ? nil : key ?? ReportKey.none
    var text: [UInt8] = []
    record.write(to: &text, showing: configuration.urlDetail)
    return text
  }
}

extension MediaRecord {
  package func write(to json: inout JSONWriter, showing detail: URLDetail) {
    json.beginObject()
    json.member("url", detail.text(of: url))
    json.member("reason", reason?.rawValue)
    json.member("status", status)
    json.member("bytes", bytes)
    json.member("cache", cache.rawValue)
    json.member("type", type?.rawValue)
    json.member("attempts", attempts)
    if let wait = timing.wait { json.member("wait_ms", wait) }
    json.member("dns_ms", timing.dns)
    json.member("connect_ms", timing.connect)
    json.member("tls_ms", timing.tls)
    json.member("first_byte_ms", timing.firstByte)
    json.member("total_ms", timing.total)
    if let converted { converted.write(to: &json) }
    json.endObject()
  }
}

extension PictureConversion {
  fileprivate func write(to json: inout JSONWriter) {
    json.key("converted")
    json.beginObject()
    json.member("from", from.rawValue)
    json.member("size", size)
    json.member("width", width)
    json.member("height", height)
    if isRepair {
      json.key("repaired")
      json.boolean(true)
    }
    json.endObject()
  }
}

extension JSONWriter {
  package mutating func member(_ name: String, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  package mutating func member(_ name: String, _ value: UntrustedText?) {
    member(name, value?.string)
  }

  package mutating func member(_ name: String, _ value: Int?) {
    key(name)
    if let value { integer(value) } else { null() }
  }

  /// Writes a duration in milliseconds, rounded to a microsecond.
  package mutating func member(_ name: String, _ value: Duration?) {
    key(name)
    if let value { double((value.milliseconds * 1000).rounded() / 1000) } else { null() }
  }
}

/// The report's data about one entry, available after the entry was passed to `write`.
struct ReportItem: Sendable {
  let account: WindowEntry.Account
  /// The lateness of the entry's first byte, and so of every line in it.
  let lateness: Duration
  /// How long every line in it waited for its place in the window.
  var waited = Duration.zero

  /// The space that it takes while it waits, in bytes.
  var charge: Int {
    switch account {
    case .none: 0
    case .passing(_, _, let reasons): 64 + reasons.count
    case .payload(let record): record.decision.media.reduce(256 + (record.decision.key?.count ?? 0)) { $0 + 256 + $1.url.utf8.count }
    }
  }
}
