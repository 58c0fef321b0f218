/// Finds the bytes of a value in a line that is known to be valid JSON.
enum JSONSource {
  /// Returns the range of the value that is reached from the line's value by descending, at each
  /// level, to the child with the given index.
  ///
  /// - Parameters:
  ///   - bytes: valid JSON, from its first byte, without a byte order mark.
  ///   - places: for each level, the child's index among its siblings, from 0, as the parser
  ///     counted them.
  static func range(in bytes: Span<UInt8>, places: [Int]) -> Range<Int> {
    var start = skipSpace(bytes, from: 0)
    for place in places { start = child(bytes, of: start, at: place) }
    return start..<skipValue(bytes, from: start)
  }

  /// Returns where the child at `place` begins in the container that opens at `start`.
  private static func child(_ bytes: Span<UInt8>, of start: Int, at place: Int) -> Int {
    let isObject = bytes[start] == UInt8(ascii: "{")
    var index = skipSpace(bytes, from: start + 1)
    for _ in 0..<place {
      if isObject { index = skipKey(bytes, from: index) }
      index = skipSpace(bytes, from: skipValue(bytes, from: index))
      index = skipSpace(bytes, from: index + 1)  // the comma
    }
    return isObject ? skipKey(bytes, from: index) : index
  }

  /// Skips a member's key; returns where its value begins.
  private static func skipKey(_ bytes: Span<UInt8>, from start: Int) -> Int {
    let colon = skipSpace(bytes, from: skipString(bytes, from: start))
    return skipSpace(bytes, from: colon + 1)
  }

  static func skipSpace(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index].isJSONSpace { index += 1 }
    return index
  }

  static func skipString(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index + 1
  }

  static func skipValue(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index = skipString(bytes, from: index)
        if depth == 0 { return index }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return index }  // the end of the container that a bare number or word stands in
        depth -= 1
        index += 1
        if depth == 0 { return index }
      case UInt8(ascii: ",") where depth == 0:
        return index
      default:
        index += 1
      }
    }
    return index
  }
}

extension UInt8 {
  /// Whether JSON allows this byte between tokens: space, tab, line feed, carriage return.
  var isJSONSpace: Bool {
    self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09
  }
}
