internal import ArgumentParser
package import Attache
internal import Glibc
package import Logging

/// The format of messages on standard error.
package enum LogFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// `attache: message`, the convention of Unix tools.
  case text
  /// One JSON object a line: `time` (RFC 3339, UTC), `level` and `message`. Messages about a
  /// payload also have `reason`, `line`, `column`, `url` and `count`.
  case json

  /// Returns a logger that writes this format.
  package func logger() -> Logger {
    Logger(label: "attache") { _ in ErrorLogHandler(format: self) }
  }
}

extension Logger {
  /// Logs why a payload was not attached: a notice, or information if its reason is ordinary.
  ///
  /// - Parameters:
  ///   - level: the level; nil lets the reason decide.
  ///   - text: the message; nil uses the explanation's own text.
  package func notify(_ explanation: Explanation, at level: Level? = nil, _ text: String? = nil) {
    var fields: Metadata = [
      "reason": .string(explanation.reason.rawValue), "line": .stringConvertible(explanation.line),
      "count": .stringConvertible(explanation.count),
    ]
    if let url = explanation.url { fields["url"] = .string(url) }
    if let column = explanation.column { fields["column"] = .stringConvertible(column) }
    let usual: Level = Reason.ordinary.contains(explanation.reason) ? .info : .notice
    log(level: level ?? usual, "\(text ?? "\(explanation)")", metadata: fields)
  }
}

/// Writes log messages to standard error.
struct ErrorLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info
  let format: LogFormat

  init(format: LogFormat) {
    self.format = format
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    switch format {
    case .text: ErrorOutput.write("attache: \(event.message)\n")
    case .json: ErrorOutput.write(json(event))
    }
  }

  private func json(_ event: LogEvent) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("time")
    writer.string(Self.now)
    writer.key("level")
    writer.string(event.level.rawValue)
    writer.key("message")
    writer.string("\(event.message)")
    for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
      writer.key(key)
      if case .stringConvertible(let number as Int) = value { writer.integer(number) } else { writer.string("\(value)") }
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  /// The current time in UTC, in milliseconds, as 2026-11-21T18:00:00.123Z.
  private static var now: String {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    var (seconds, parts) = (time.tv_sec, unsafe tm())
    unsafe gmtime_r(&seconds, &parts)
    let year = unsafe padded(parts.tm_year + 1900, 4)
    let date = unsafe "\(year)-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
    let clock = unsafe "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
    return "\(date)T\(clock).\(padded(Int32(time.tv_nsec / 1_000_000), 3))Z"
  }

  private static func padded(_ number: Int32, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
