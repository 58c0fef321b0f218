/// Makes a copy of a line that simdjson can parse, although the line has numbers or escapes that
/// simdjson rejects and JSON's grammar allows.
///
/// A number that fits neither 64 bits nor a `Double` becomes `null`, padded with spaces; such a
/// number cannot be a badge or a flag. An unpaired surrogate (`\ud83d` alone) becomes `\ufffd`. So
/// every other byte keeps its offset.
enum SimdjsonRepair {
  /// Returns the copy, followed by the parser's padding; nil if the line is not JSON.
  static func make(of line: UnsafeRawBufferPointer) -> [UInt8]? {
    var bytes = unsafe JSONParser.padded(line)
    let text = unsafe line.bindMemory(to: UInt8.self)
    var scanner = JSONScanner()
    do throws(JSONScanner.Failure) {
      while let token = unsafe try scanner.next(in: text.span) {
        switch token {
        case .name, .string: if scanner.hasEscape { unsafe mend(scanner.range, of: text.span, in: &bytes) }
        case .number:
          // Write byte by byte, while the array has a single owner: a slice of it would cause a
          // copy of the whole line for each number.
          guard scanner.range.count > 4, isOutOfRange(unsafe String(decoding: text[scanner.range], as: UTF8.self)) else { continue }
          for index in scanner.range { bytes[index] = UInt8(ascii: " ") }
          for (index, byte) in zip(scanner.range, "null".utf8) { bytes[index] = byte }
        case .beginObject, .beginArray, .end, .word: break
        }
      }
      return bytes
    } catch {
      return nil
    }
  }

  /// Replaces the unpaired surrogates of a string.
  private static func mend(_ string: Range<Int>, of text: Span<UInt8>, in bytes: inout [UInt8]) {
    var index = string.lowerBound
    while index < string.upperBound {
      guard text[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      let (length, number) = JSONString.escape(in: text, at: index)
      if Unicode.Scalar(number) == nil { bytes.replaceSubrange(index + 2..<index + 6, with: "fffd".utf8) }
      index += length
    }
  }

  private static func isOutOfRange(_ number: String) -> Bool {
    if number.utf8.contains(where: { [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0) }) {
      return Double(number).map(\.isInfinite) ?? true
    }
    return Int64(number) == nil && UInt64(number) == nil
  }
}
