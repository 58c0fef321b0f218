/// Reads one line after another: is it a payload, is it a candidate, what does it show, which media does it name?
///
/// It owns one parser and its buffers, so it is used by one thread at a time. Of members with the same name the last one counts, as for
/// jq, Python and JavaScript.
package final class PayloadReader {
  /// The longest line that is read, without its line ending: 1 MiB. Every line that long is read however deep it is nested.
  package static let maximumLineLength = 1 << 20
  /// Bytes after a line that must be readable for ``read(_:)``; what they hold is of no matter.
  package static let padding = JSONParser.padding

  private enum Key: Int {
    case aps, output
  }

  private let parser = JSONParser(capacity: maximumLineLength)
  private let aps = ApsReader()
  private let members: MemberLookup
  private let payloadPath: JSONPointer
  private let dialects: DialectEngine

  /// - Parameters:
  ///   - outputKey: the member that an attached payload gains; a payload that has it passes through.
  ///   - payloadPath: where the payload stands in the line; nil is the whole line.
  ///   - dialects: where media are looked for.
  package init(outputKey: String = "attache", payloadPath: JSONPointer? = nil, dialects: DialectTable = DialectTable()) {
    members = MemberLookup(["aps", outputKey])
    self.payloadPath = payloadPath ?? JSONPointer()
    self.dialects = DialectEngine(dialects)
  }

  /// Reads a line.
  ///
  /// A blank line passes through; whatever else is no JSON object is invalid. A line that has no object at the payload path passes through:
  /// it is a valid line with nothing to do.
  ///
  /// - Parameter line: the line without its line ending; white space at either end, a `\r` and a byte order mark before it are allowed.
  ///   ``padding`` bytes after it must be readable.
  package func read(_ line: UnsafeRawBufferPointer) -> Reading {
    let json = unsafe Self.trim(line)
    guard unsafe !json.isEmpty else { return .passthrough(.nothing, nil) }
    guard unsafe json.count <= Self.maximumLineLength else { return .passthrough(.nothing, .payloadSize) }
    guard let root = unsafe parser.parse(UnsafeRawBufferPointer(rebasing: json)), root.isObject else { return .invalid(.payloadJSON) }
    guard let (payload, places) = locate(in: root) else { return .passthrough(.nothing, nil) }

    members.find(in: payload)
    let kind = aps.read(members[Key.aps.rawValue])
    guard kind == .alert, aps.isMutable else { return .passthrough(kind, nil) }
    guard members[Key.output.rawValue] == nil else { return .passthrough(kind, .payloadEnriched) }
    let found = dialects.references(in: payload)
    return .candidate(
      Payload(
        content: aps.content(), references: found.references.filter { $0.role == .attachment }, dialect: found.dialect,
        splice: Splice(payload: unsafe Self.range(of: places, in: json))))
  }

  /// The line less the byte order mark and the white space after it.
  private static func trim(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    var end = line.count
    while end > 0, unsafe line[end - 1].isJSONSpace { end -= 1 }
    let hasMark = unsafe end >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF
    return unsafe line[(hasMark ? 3 : 0)..<end]
  }

  /// The payload's object and, level by level, its place in the line.
  private func locate(in root: JSONElement) -> (JSONElement, places: [Int])? {
    var payload = root
    var places: [Int] = []
    for token in payloadPath.tokens {
      guard let child = payload.child(token) else { return nil }
      payload = child.element
      places.append(child.place)
    }
    return payload.isObject ? (payload, places) : nil
  }

  /// The payload's bytes, counted from the start of the line.
  private static func range(of places: [Int], in json: Slice<UnsafeRawBufferPointer>) -> Range<Int> {
    if places.isEmpty, let start = unsafe json.firstIndex(of: UInt8(ascii: "{")) { return unsafe start..<json.endIndex }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: json).bindMemory(to: UInt8.self)
    let range = unsafe JSONSource.range(in: bytes.span, places: places)
    return unsafe json.startIndex + range.lowerBound..<json.startIndex + range.upperBound
  }
}
