/// Tracks the open brackets of a JSON object over several lines. Brackets in strings do not count.
struct BraceScan {
  enum State {
    /// The object continues after the line.
    case open
    /// The object ended with the line, or the line does not begin an object.
    case closed
    /// The line cannot continue the object.
    case broken
  }

  /// The maximum number of brackets that may be open at the end of a line. Real objects that span
  /// lines are not nested deeper.
  private static let maximumDepth = 512

  private var depth = 0
  private var hasBegun = false
  /// The last byte that is not white space; for a string, its opening quote.
  private var last = UInt8(ascii: " ")

  /// Reads the next complete line.
  mutating func read(_ line: [UInt8]) -> State {
    var bytes = line[...]
    if !hasBegun, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    bytes = bytes.drop { $0.isJSONSpace }
    guard let first = bytes.first else { return depth > 0 ? .open : .closed }
    if !hasBegun {
      guard first == UInt8(ascii: "{") else { return .closed }
      hasBegun = true
    } else if !mayGoOn(with: first) {
      return .broken
    }
    return read(rest: bytes)
  }

  private mutating func read(rest bytes: ArraySlice<UInt8>) -> State {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if !byte.isJSONSpace { last = byte }
      index += 1
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "\""):
        guard let end = Self.endOfString(bytes[index...]) else { return .broken }
        index = end
      default: break
      }
      if depth == 0 { return bytes[index...].allSatisfy(\.isJSONSpace) ? .closed : .broken }
    }
    return depth <= Self.maximumDepth ? .open : .broken
  }

  /// Returns the index after the closing quote; nil when the line ends within the string, which
  /// JSON does not allow.
  private static func endOfString(_ bytes: ArraySlice<UInt8>) -> Int? {
    var index = bytes.startIndex
    while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index < bytes.endIndex ? index + 1 : nil
  }

  /// Returns whether a line that begins with this byte can follow the previous lines. A value or a
  /// key follows a comma, a colon or an opening bracket.
  private func mayGoOn(with first: UInt8) -> Bool {
    switch first {
    case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): true
    case UInt8(ascii: "{"), UInt8(ascii: "["): [UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":")].contains(last)
    default: [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":")].contains(last)
    }
  }
}
