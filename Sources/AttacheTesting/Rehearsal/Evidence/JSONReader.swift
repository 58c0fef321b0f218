internal import Attache

/// Parses a JSON text (RFC 8259) and keeps its numbers exact. `JSONDecoder` would hide changes in
/// large numbers and duplicate names.
package enum JSONReader {
  /// The reason why a text is not JSON.
  package enum Failure: Error {
    /// The text is incomplete: more text could make it valid.
    case end
    case syntax
  }

  /// The same depth as simdjson's, and small enough for a thread's stack.
  private static let maximumDepth = 1024

  /// Parses a text that consists of exactly one value.
  package static func read(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .syntax }
    let text = bytes.span
    var scanner = JSONScanner()
    do throws(JSONScanner.Failure) {
      let value = try value(try scanner.next(in: text), text, &scanner)
      _ = try scanner.next(in: text)
      return value
    } catch {
      throw error.offset == text.count ? .end : .syntax
    }
  }

  /// Reads the rest of the value that begins with this token.
  private static func value(
    _ token: JSONScanner.Token?, _ text: Span<UInt8>, _ scanner: inout JSONScanner
  ) throws(JSONScanner.Failure) -> JSONValue {
    let range = scanner.range
    switch token {
    case .beginObject where scanner.depth <= maximumDepth:
      var members: [[UInt8]: JSONValue] = [:]
      while try scanner.next(in: text) == .name {
        let name = JSONString.identity(text, scanner.range.withoutQuotes)
        members[name] = try value(try scanner.next(in: text), text, &scanner)
      }
      return .object(JSONObject(members: members, closingBrace: scanner.range.lowerBound))
    case .beginArray where scanner.depth <= maximumDepth:
      var elements: [JSONValue] = []
      while let token = try scanner.next(in: text), token != .end { elements.append(try value(token, text, &scanner)) }
      return .array(elements)
    case .string: return .string(JSONString.identity(text, range.withoutQuotes))
    case .number: return .number(JSONNumber(text.extracting(range)))
    case .word: return text[range.lowerBound] == UInt8(ascii: "n") ? .null : .boolean(text[range.lowerBound] == UInt8(ascii: "t"))
    case .beginObject, .beginArray, .end, .name, nil: throw JSONScanner.Failure(offset: range.lowerBound)
    }
  }
}
