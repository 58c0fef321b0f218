/// What is known about a line beside its reason: what is wrong with it, and where.
package enum LineCause: Hashable, Sendable {
  /// The line is not a JSON object.
  case json(JSONMistake)
  /// The line is an envelope that cannot be opened.
  case envelope(UnopenedEnvelope)
  /// Nothing reads a string that looks like a media URL.
  case unread(UnreadMedia)

  /// What is wrong, and what to do: one printable sentence without a full stop.
  package var text: String {
    switch self {
    case .json(let mistake): mistake.text
    case .envelope(let envelope): envelope.why
    case .unread(let media): media.text
    }
  }

  /// The column of the mistake, in characters, counted from 1; nil if no place in the line is known.
  package var column: Int? {
    if case .json(let mistake) = self { mistake.column } else { nil }
  }
}

/// What the report says about a passing line besides its reason.
struct LineNote: Sendable {
  var cause: LineCause?
  /// The value at the place of `--report-key`, as JSON; nil without the flag.
  var key: [UInt8]?

  /// Whether the line needs a record of its own.
  var needsRecord: Bool { cause != nil || key != nil }
}
