/// Reads one line after another: is it a payload, is it a candidate, what does it show, which media
/// does it name?
///
/// It owns one parser and its buffers, so it is used by one thread at a time. Of members with the
/// same name the last one counts, as for jq, Python and JavaScript.
package final class PayloadReader {
  /// The longest line that is read, without its line ending: 1 MiB. Every line that long is read
  /// however deep it is nested.
  package static let maximumLineLength = JSONParser.maximumLength
  /// Bytes after a line that must be readable for ``read(_:)``; what they hold is of no matter.
  package static let padding = JSONParser.padding

  private let opener: LineOpener
  private let aps = ApsReader()
  private let dialects: DialectEngine
  /// What a payload has put in the place of its alert's texts; nil leaves them.
  private let overrides: ((JSONElement) -> [DialectText.Override])?

  /// - Parameters:
  ///   - outputKey: the member that an attached payload gains; a line that brings it, in the
  ///     payload or around it, passes through.
  ///   - payloadPath: where the payload stands in the line; nil is the whole line, or where the
  ///     envelope of a push service has it.
  ///   - dialects: where media are looked for.
  ///   - appliesOverrides: whether the alert gets the texts that the vendor's own helper would give
  ///     it.
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

  /// Makes sure that there was memory for the parsers, before the first line: without, every line
  /// would seem to be no JSON.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, dialects.hasMemory else { throw .noMemory }
  }

  /// Reads a line.
  ///
  /// A blank line passes through; whatever else is no JSON object is invalid. A line that has no
  /// object at the payload path passes through: it is a valid line with nothing to do.
  ///
  /// - Parameter line: the line without its line ending; white space at either end, a `\r` and a
  ///   byte order mark before it are allowed. ``padding`` bytes after it must be readable.
  package func read(_ line: UnsafeRawBufferPointer) -> Reading {
    switch unsafe opener.open(line) {
    case .blank: return .passthrough(.nothing, nil)
    case .empty: return .passthrough(.nothing, opener.isEnriched ? .payloadEnriched : nil)
    case .overlong: return .passthrough(.nothing, .payloadSize)
    case .invalid: return .invalid(.payloadJSON)
    case .unopened where opener.isEnriched: return .passthrough(.nothing, .payloadEnriched)
    case .unopened(let envelope): return envelope.isForOthers ? .passthrough(.nothing, nil) : .unopened(envelope)
    case .payload(let payload): return unsafe read(payload, of: line)
    }
  }

  private func read(_ first: JSONElement, of line: UnsafeRawBufferPointer) -> Reading {
    let firstKind = aps.read(opener.aps)
    guard !opener.isEnriched else { return .passthrough(firstKind, .payloadEnriched) }
    var candidates: [Payload] = []
    var (next, kind) = (first as JSONElement?, firstKind)
    while let payload = next {
      if kind == .alert, aps.isMutable { candidates.append(unsafe candidate(payload, of: line)) }
      next = opener.next()
      if next != nil { kind = aps.read(opener.aps) }
    }
    return candidates.isEmpty ? .passthrough(firstKind, nil) : .candidates(candidates)
  }

  private func candidate(_ payload: JSONElement, of line: UnsafeRawBufferPointer) -> Payload {
    let found = dialects.references(in: payload)
    var candidate = Payload(
      content: aps.content(), references: found.references.filter { $0.role == .attachment }, dialect: found.dialect,
      splice: unsafe opener.splice(of: line))
    candidate.omitted = found.omitted
    if let overrides, !candidate.references.isEmpty { unsafe opener.apply(overrides(payload), to: &candidate, of: line) }
    return candidate
  }
}
