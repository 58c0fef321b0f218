/// Finds the first byte of a text that violates JSON's grammar (RFC 8259).
struct JSONErrorLocator {
  private let bytes: ArraySlice<UInt8>
  private var index: Int

  /// Returns the index of the error, or the end of the text when something is missing there or the
  /// text is valid.
  static func offset(in bytes: ArraySlice<UInt8>) -> Int {
    var mistake = JSONErrorLocator(bytes: bytes, index: bytes.startIndex)
    if mistake.skipDocument() { mistake.skipSpace() }
    return mistake.index
  }

  /// Skips one value of any depth; returns false at an error.
  private mutating func skipDocument() -> Bool {
    var brackets: [UInt8] = []
    repeat {
      skipSpace()
      switch next {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = next == UInt8(ascii: "{")
        brackets.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        index += 1
        skipSpace()
        if next != brackets.last {
          if isObject, !skipKey() { return false }
          continue
        }
      default:
        guard skipScalar() else { return false }
      }
      guard skipClosings(&brackets) else { return false }
    } while !brackets.isEmpty
    return true
  }

  /// Skips, after a value, the closing brackets, and then the comma and the next key.
  private mutating func skipClosings(_ brackets: inout [UInt8]) -> Bool {
    while let bracket = brackets.last {
      skipSpace()
      if next == bracket {
        brackets.removeLast()
        index += 1
      } else {
        guard skip(UInt8(ascii: ",")) else { return false }
        skipSpace()
        return bracket == UInt8(ascii: "]") || skipKey()
      }
    }
    return true
  }

  private mutating func skipKey() -> Bool {
    guard skipString() else { return false }
    skipSpace()
    return skip(UInt8(ascii: ":"))
  }

  private mutating func skipScalar() -> Bool {
    if next == UInt8(ascii: "\"") { return skipString() }
    for word in ["true", "false", "null"] where bytes[index...].starts(with: word.utf8) {
      index += word.utf8.count
      return true
    }
    _ = skip(UInt8(ascii: "-"))
    let digits = bytes[index...].prefix { 0x30...0x39 ~= $0 || ".eE+-".utf8.contains($0) }
    index += digits.count
    return !digits.isEmpty
  }

  private mutating func skipString() -> Bool {
    guard skip(UInt8(ascii: "\"")) else { return false }
    while let byte = next, byte >= 0x20 {
      if byte == UInt8(ascii: "\"") {
        index += 1
        return true
      }
      index += byte == UInt8(ascii: "\\") && index + 1 < bytes.endIndex ? 2 : 1
    }
    return false
  }

  private var next: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, byte.isJSONSpace { index += 1 }
  }
}
