internal import ArgumentParser
internal import Attache
package import Logging

/// How messages are written to standard error.
package enum LogFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// `attache: message`, as Unix tools speak.
  case text
  /// One JSON object a line.
  case json

  /// A logger that writes this way.
  package func logger() -> Logger {
    Logger(label: "attache") { _ in ErrorLogHandler(format: self) }
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
    writer.key("level")
    writer.string(event.level.rawValue)
    writer.key("message")
    writer.string("\(event.message)")
    for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
      writer.key(key)
      writer.string("\(value)")
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }
}
