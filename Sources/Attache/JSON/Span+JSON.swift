/// Finds positions in a text that is known to be valid JSON. In a text that ends too soon, a
/// position may lie beyond the end.
extension Span<UInt8> {
  /// Returns the range of the value that is reached from the text's value by descending, at each
  /// level, to the child with the given index. The text has no byte order mark.
  ///
  /// - Parameter places: for each level, the child's index among its siblings, from 0, as the
  ///   parser counted them.
  func rangeOfValue(at places: [Int]) -> Range<Int> {
    var start = skipSpace(from: 0)
    for place in places {
      let isObject = self[start] == UInt8(ascii: "{")
      start = skipSpace(from: start + 1)
      for _ in 0..<place {
        if isObject { start = skipSeparator(from: skipString(from: start)) }
        start = skipSeparator(from: skipValue(from: start))
      }
      if isObject { start = skipSeparator(from: skipString(from: start)) }
    }
    return start..<skipValue(from: start)
  }

  /// Skips a comma or a colon, and the white space around it.
  func skipSeparator(from start: Int) -> Int {
    skipSpace(from: skipSpace(from: start) + 1)
  }

  func skipSpace(from start: Int) -> Int {
    var index = start
    while index < count, self[index].isJSONSpace { index += 1 }
    return index
  }

  func skipString(from start: Int) -> Int {
    var index = start + 1
    while index < count, self[index] != UInt8(ascii: "\"") {
      index += self[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index + 1
  }

  /// Skips the bytes that a string contains as they are.
  func skipPlain(from start: Int) -> Int {
    var index = start
    while index < count, self[index] >= 0x20, self[index] != UInt8(ascii: "\""), self[index] != UInt8(ascii: "\\") { index += 1 }
    return index
  }

  /// Skips a string, or any other single byte.
  func skipStringOrByte(from start: Int) -> Int {
    self[start] == UInt8(ascii: "\"") ? skipString(from: start) : start + 1
  }

  /// Skips a value. At a comma, a closing bracket or white space it skips nothing.
  package func skipValue(from start: Int) -> Int {
    var index = start
    var depth = 0
    while index < count {
      switch self[index] {
      case UInt8(ascii: "\""):
        index = skipString(from: index)
        if depth == 0 { return index }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return index }  // the end of the container that a bare number or word stands in
        depth -= 1
        index += 1
        if depth == 0 { return index }
      case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
        if depth == 0 { return index }
        index += 1
      default:
        index += 1
      }
    }
    return index
  }
}

extension UInt8 {
  /// Whether JSON allows this byte between tokens: space, tab, line feed, carriage return.
  package var isJSONSpace: Bool {
    self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09
  }
}
