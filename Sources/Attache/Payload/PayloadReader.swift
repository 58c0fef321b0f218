/// Reads one line after another: is it a payload, is it a candidate, what does it show, which media does it name?
///
/// It owns one parser and its buffers, so it is used by one thread at a time. Of members with the same name the last one counts, as for
/// jq, Python and JavaScript.
package final class PayloadReader {
  /// The longest line that is read, without its line ending: 1 MiB. Every line that long is read however deep it is nested.
  package static let maximumLineLength = 1 << 20
  /// Bytes after a line that must be readable for ``read(_:)``; what they hold is of no matter.
  package static let padding = JSONParser.padding

  private let opener: LineOpener
  private let aps = ApsReader()
  private let dialects: DialectEngine
  /// What a payload has put in the place of its alert's texts; nil leaves them.
  private let overrides: ((JSONElement) -> [DialectText.Override])?

  /// - Parameters:
  ///   - outputKey: the member that an attached payload gains; a payload that has it passes through.
  ///   - payloadPath: where the payload stands in the line; nil is the whole line, or where the envelope of a push service has it.
  ///   - dialects: where media are looked for.
  ///   - appliesOverrides: whether the alert gets the texts that the vendor's own helper would give it.
  package convenience init(
    outputKey: String = "attache", payloadPath: JSONPointer? = nil, dialects: DialectTable = DialectTable(), appliesOverrides: Bool = false
  ) {
    let engine = DialectEngine(dialects)
    self.init(outputKey, payloadPath, engine, overrides: appliesOverrides ? { engine.text(in: $0)?.overrides ?? [] } : nil)
  }

  init(_ outputKey: String, _ path: JSONPointer?, _ dialects: DialectEngine, overrides: ((JSONElement) -> [DialectText.Override])?) {
    opener = LineOpener(outputKey: outputKey, path: path)
    self.dialects = dialects
    self.overrides = overrides
  }

  /// Makes sure that there was memory for the parsers, before the first line: without, every line would seem to be no JSON.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, dialects.hasMemory else { throw .noMemory }
  }

  /// Reads a line.
  ///
  /// A blank line passes through; whatever else is no JSON object is invalid. A line that has no object at the payload path passes through:
  /// it is a valid line with nothing to do.
  ///
  /// - Parameter line: the line without its line ending; white space at either end, a `\r` and a byte order mark before it are allowed.
  ///   ``padding`` bytes after it must be readable.
  package func read(_ line: UnsafeRawBufferPointer) -> Reading {
    switch unsafe opener.open(line) {
    case .blank, .empty: return .passthrough(.nothing, nil)
    case .overlong: return .passthrough(.nothing, .payloadSize)
    case .invalid: return .invalid(.payloadJSON)
    case .payload(let payload): return unsafe read(payload, of: line)
    }
  }

  private func read(_ payload: JSONElement, of line: UnsafeRawBufferPointer) -> Reading {
    let kind = aps.read(opener.aps)
    guard kind == .alert, aps.isMutable else { return .passthrough(kind, nil) }
    guard !opener.isEnriched else { return .passthrough(kind, .payloadEnriched) }
    let found = dialects.references(in: payload)
    var candidate = Payload(
      content: aps.content(), references: found.references.filter { $0.role == .attachment }, dialect: found.dialect,
      splice: unsafe opener.splice(of: line))
    if let overrides, !candidate.references.isEmpty { unsafe opener.apply(overrides(payload), to: &candidate, of: line) }
    return .candidate(candidate)
  }
}
