/// Tracks the open brackets of a JSON object, or an array of objects, over several lines. Brackets in strings do not count.
package struct BraceScan {
  package init() {}

  package enum State {
    /// The object continues after the line.
    case open
    /// The object ended with the line, or the line begins neither.
    case closed
    /// The line cannot continue the object.
    case broken
  }

  /// The maximum number of brackets that may be open at the end of a line. Real objects that span
  /// lines are not nested deeper.
  private static let maximumDepth = 512

  private var depth = 0
  /// The last byte that is not white space; for a string, its opening quote.
  private var last = UInt8(ascii: " ")

  /// Reads the next complete line, until one is not ``State/open``.
  package mutating func read(_ line: [UInt8]) -> State {
    let text = line.span
    let hasBegun = depth > 0
    var index = text.skipSpace(from: !hasBegun && line.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    guard index < text.count else { return hasBegun ? .open : .closed }
    guard hasBegun || text[index] == UInt8(ascii: "{") || text[index] == UInt8(ascii: "[") else { return .closed }
    guard !hasBegun || mayGoOn(with: text[index]) else { return .broken }
    while index < text.count {
      last = text[index]
      if last == UInt8(ascii: "{") || last == UInt8(ascii: "[") { depth += 1 }
      if last == UInt8(ascii: "}") || last == UInt8(ascii: "]") { depth -= 1 }
      index = text.skipSpace(from: text.skipStringOrByte(from: index))
      if depth == 0 { return index < text.count ? .broken : .closed }
    }
    // A string that ends with the line, which JSON does not allow, ends beyond it.
    return index == text.count && depth <= Self.maximumDepth ? .open : .broken
  }

  /// Returns whether a line that begins with this byte can follow the previous lines. A value or a
  /// key follows a comma, a colon or an opening bracket.
  private func mayGoOn(with first: UInt8) -> Bool {
    switch first {
    case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): true
    case UInt8(ascii: "{"), UInt8(ascii: "["): "[,:".utf8.contains(last)
    default: "{[,:".utf8.contains(last)
    }
  }
}
