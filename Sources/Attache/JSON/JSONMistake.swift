/// Why a line is not a JSON object, and where: for the person who wrote its producer.
package struct JSONMistake: Hashable, Sendable {
  /// The kind of the mistake.
  package enum Cause: String, CaseIterable, Sendable {
    case utf16, compressed, notUTF8
    case prettyPrinted, cutOff, listed, several
    case array, string, scalar, text
    case singleQuotes, typographicQuotes, unescapedQuote, control, escape
    case trailingComma, unquotedName, unquotedText, comment, number, punctuation
    case notANumber, pythonWord, undefined
  }

  package let cause: Cause
  /// In characters, counted from 1.
  package let column: Int

  /// Examines a line that is not a JSON object.
  package init(of line: UnsafeRawBufferPointer) {
    var bytes = unsafe Array(line)
    while bytes.last?.isJSONSpace == true { bytes.removeLast() }
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    let text = hasMark ? Array(bytes.dropFirst(3)) : bytes
    let found = Self.found(in: text)
    cause = found.cause
    column = 1 + text.prefix(found.offset).count { $0 & 0xC0 != 0x80 }
  }

  private typealias Found = (cause: Cause, offset: Int)

  private static func found(in text: [UInt8]) -> Found {
    if isUTF16(text) { return (.utf16, 0) }
    if compressions.contains(where: text.starts) { return (.compressed, 0) }
    let walk = MistakeWalk(text)
    let offset = walk.failure
    if let invalid = firstInvalidUTF8(text), invalid <= offset ?? text.count { return (.notUTF8, invalid) }
    guard let offset else { return (walk.causeOfWholeValue, text.prefix { $0.isJSONSpace }.count) }
    return (offset < text.count ? walk.cause(at: offset) : walk.causeAtEnd, offset)
  }

  /// The first bytes of gzip, Zstandard and xz.
  private static let compressions: [[UInt8]] = [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58]]

  /// Returns whether every other byte of the beginning is zero, or there is a byte order mark of
  /// UTF-16. A line may begin with the second half of a line feed.
  private static func isUTF16(_ text: [UInt8]) -> Bool {
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) { return true }
    let head = text.prefix(8)
    let zeros = head.indices.filter { head[$0] == 0 }
    return !zeros.isEmpty && (head.count < 3 || zeros.count >= head.count / 2) && Set(zeros.map { $0 % 2 }).count == 1
  }

  private static func firstInvalidUTF8(_ text: [UInt8]) -> Int? {
    guard text.contains(where: { $0 >= 0x80 }) else { return nil }
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: text.span)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  /// What is wrong, and what to do: one sentence without a full stop.
  package var text: String {
    switch cause {
    case .utf16: "the line is UTF-16, not UTF-8; convert the input (iconv -f UTF-16 -t UTF-8)"
    case .compressed: "the input is compressed; unpack it first (gzip -d)"
    case .notUTF8: "a text is not UTF-8; convert the input from its encoding (iconv -f ISO-8859-1 -t UTF-8, if it is Latin-1)"
    case .prettyPrinted:
      "the JSON goes over several lines (pretty-printed), or a closing bracket is missing; write each payload on one line (jq -c . does so, and jq -c '.[]' for an array)"
    case .cutOff: "the line ends within a value, so it was cut off; find out what shortens lines, and write the whole object on one line"
    case .listed: "a comma follows the object, as in an array over several lines; write only the objects (jq -c '.[]' does so)"
    case .several: "something follows the object; write each object on a line of its own (jq -c . does so)"
    case .array: "the line is an array, not an object; write each payload on a line of its own (jq -c '.[]' does so)"
    case .string: "the line is a string, not an object; write the JSON that it holds, not its text (jq -r . does so)"
    case .scalar: "the line is a single value, not an object; write the payload as an object"
    case .text: "the line is no JSON at all; write one JSON object a line, and nothing else"
    case .singleQuotes: "the quotes are single; JSON has only double ones (in Python, json.dumps writes them)"
    case .typographicQuotes: "the quotes are typographic; JSON has only the plain double quote"
    case .unescapedQuote: "a text contains a quote; write \\\" there"
    case .control: "a text contains a raw control character; write it as an escape, such as \\n or \\t"
    case .escape: "JSON has no such escape; leave the backslash out, or write \\\\ for one that is shown"
    case .trailingComma: "a comma stands before the closing bracket; remove it"
    case .unquotedName: "a name has no quotes; write it in double quotes"
    case .unquotedText: "a text has no quotes; write it in double quotes"
    case .comment: "JSON has no comments; remove it"
    case .number: "JSON has no such number; write decimal digits, no plus sign or zero before them, and digits on both sides of a point"
    case .punctuation: "a comma, a colon, a value or a bracket is missing or does not belong there"
    case .notANumber: "JSON has no NaN and no Infinity; write null, or leave the member out"
    case .pythonWord: "True, False and None are Python's words; JSON has true, false and null (json.dumps writes them)"
    case .undefined: "JSON has no undefined; write null, or leave the member out"
    }
  }
}

/// The tokens of a line up to its mistake, and the names of what is there.
private struct MistakeWalk {
  private let text: [UInt8]
  /// The offset of the violation of JSON's grammar; nil if there is none.
  private(set) var failure: Int?
  private var root: JSONScanner.Token?
  /// The end of the last whole token.
  private var end = 0
  private var depth = 0

  init(_ text: [UInt8]) {
    self.text = text
    var scanner = JSONScanner()
    do throws(JSONScanner.Failure) {
      while let token = try scanner.next(in: text.span) {
        root = root ?? token
        end = scanner.range.upperBound
      }
    } catch {
      failure = error.offset
    }
    depth = scanner.depth
  }

  /// The cause if the line is a JSON value.
  var causeOfWholeValue: JSONMistake.Cause {
    switch root {
    case .beginArray: .array
    case .string: .string
    case .number, .word: .scalar
    case .beginObject, .end, .name, nil: .text
    }
  }

  /// The cause if something is missing at the end of the line.
  var causeAtEnd: JSONMistake.Cause {
    guard let root else { return text.first.map { "\"tfn-".utf8.contains($0) } == true ? .cutOff : .text }
    guard root == .beginObject || root == .beginArray else { return .text }
    var rest = text.span.skipSpace(from: end)
    if rest < text.count, ",:".utf8.contains(text[rest]) { rest = text.span.skipSpace(from: rest + 1) }
    return rest < text.count ? .cutOff : .prettyPrinted
  }

  func cause(at offset: Int) -> JSONMistake.Cause {
    let (byte, before) = (text[offset], offset > 0 ? text[offset - 1] : 0)
    if byte == UInt8(ascii: "'"), before != UInt8(ascii: "\\") { return .singleQuotes }
    if begins("\u{201C}", offset) || begins("\u{201D}", offset) || begins("\u{201E}", offset) || begins("\u{2019}", offset) {
      return .typographicQuotes
    }
    if let cause = causeInString(byte, offset) { return cause }
    if begins("//", offset) || begins("/*", offset) || byte == UInt8(ascii: "#") && depth > 0 { return .comment }
    if depth == 0 { return causeAtTop(byte, offset) }
    if ".+-".utf8.contains(before) && byte.decimalDigit == nil && !byte.isLetterASCII { return .number }
    if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
      return lastToken(before: offset) == UInt8(ascii: ",") ? .trailingComma : .punctuation
    }
    if let cause = causeOfWord(offset) { return cause }
    let isInNumber = before.decimalDigit != nil || "eE".utf8.contains(before)
    return "+.".utf8.contains(byte) || isInNumber && (byte.decimalDigit != nil || byte.isLetterASCII) ? .number : .punctuation
  }

  /// Returns the cause if the mistake is within a string.
  private func causeInString(_ byte: UInt8, _ offset: Int) -> JSONMistake.Cause? {
    if byte < 0x20 { return isInString(offset) ? .control : depth > 0 ? .punctuation : root == nil ? .text : .several }
    if offset > 0, text[offset - 1] == UInt8(ascii: "\\") { return .escape }
    let unicode = text[max(0, offset - 5)..<offset].lastIndex(of: UInt8(ascii: "u"))
    if let unicode, unicode > 0, text[unicode - 1] == UInt8(ascii: "\\") { return .escape }
    let followsQuote = offset > 0 && text[offset - 1] == UInt8(ascii: "\"") && end == offset
    return followsQuote && depth > 0 && (byte.isLetterASCII || byte.decimalDigit != nil || byte >= 0x80) ? .unescapedQuote : nil
  }

  /// Whether a quote is open at an offset, as far as the whole tokens before it say.
  private func isInString(_ offset: Int) -> Bool {
    let start = text.span.skipSpace(from: min(end, offset))
    return text[start..<max(start, offset)].contains(UInt8(ascii: "\""))
  }

  /// Returns the cause of a mistake outside all brackets.
  private func causeAtTop(_ byte: UInt8, _ offset: Int) -> JSONMistake.Cause {
    let isLast = text.span.skipSpace(from: offset + 1) >= text.count
    switch root {
    case nil:
      let isClosing = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
      return isClosing ? .prettyPrinted : .text
    // A member of an object, or an element of an array, on a line of its own.
    case .string: return byte == UInt8(ascii: ":") || byte == UInt8(ascii: ",") && isLast ? .prettyPrinted : .text
    case .number, .word: return byte == UInt8(ascii: ",") && isLast ? .prettyPrinted : .text
    case .beginObject, .beginArray, .end, .name:
      if byte == UInt8(ascii: ",") && isLast { return .listed }
      return byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") ? .punctuation : .several
    }
  }

  /// Returns the cause of a word that is not JSON's.
  private func causeOfWord(_ offset: Int) -> JSONMistake.Cause? {
    let word = text[offset...].prefix { $0.isLetterASCII || $0.decimalDigit != nil || "_$".utf8.contains($0) || $0 >= 0x80 }
    guard let first = word.first, first.decimalDigit == nil else { return nil }
    let next = text.span.skipSpace(from: word.endIndex)
    if lastToken(before: offset) != UInt8(ascii: ":"), next < text.count, text[next] == UInt8(ascii: ":") { return .unquotedName }
    switch String(decoding: word.prefix(16).map(\.lowercasedASCII), as: UTF8.self) {
    case "nan", "infinity", "inf": return .notANumber
    case "true", "false", "none": return .pythonWord
    case "undefined": return .undefined
    default: break
    }
    // The digits of a number, such as 0x10, end where it begins.
    guard text[offset - 1].decimalDigit == nil, !".+".utf8.contains(text[offset - 1]) else { return nil }
    return lastToken(before: offset).map { ":[,{".utf8.contains($0) } == true ? .unquotedText : nil
  }

  /// Returns the last byte before an offset that is not white space.
  private func lastToken(before offset: Int) -> UInt8? {
    text[..<offset].last { !$0.isJSONSpace }
  }

  private func begins(_ word: String, _ offset: Int) -> Bool {
    text[offset...].starts(with: word.utf8)
  }
}
