/// Parses a JSON text (RFC 8259) and keeps its numbers exact. `JSONDecoder` would hide changes in
/// large numbers and duplicate names.
package struct JSONReader {
  /// The reason why a text is not JSON.
  package enum Failure: Error {
    /// The text is incomplete: more text could make it valid.
    case end
    case syntax
  }

  /// The same depth as simdjson's, and small enough for a thread's stack.
  private static let maximumDepth = 1024

  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private var depth = 0

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  /// Parses a text that consists of exactly one value.
  package static func read(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .syntax }
    var reader = JSONReader(bytes)
    let value = try reader.value()
    reader.skipSpace()
    guard reader.index == bytes.endIndex else { throw .syntax }
    return value
  }

  private var next: UInt8? {
    index < bytes.endIndex ? bytes[index] : nil
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
  }

  private mutating func take() throws(Failure) -> UInt8 {
    guard let byte = next else { throw .end }
    index += 1
    return byte
  }

  private mutating func expect(_ text: StaticString) throws(Failure) {
    for byte in "\(text)".utf8 {
      guard try take() == byte else { throw .syntax }
    }
  }

  private mutating func value() throws(Failure) -> JSONValue {
    skipSpace()
    guard let byte = next else { throw .end }
    switch byte {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"):
      try expect("true")
      return .boolean(true)
    case UInt8(ascii: "f"):
      try expect("false")
      return .boolean(false)
    case UInt8(ascii: "n"):
      try expect("null")
      return .null
    default: return .number(try number())
    }
  }

  private mutating func enter() throws(Failure) {
    depth += 1
    index += 1
    guard depth <= Self.maximumDepth else { throw .syntax }
  }

  /// Returns whether the container ends here; false after a comma.
  private mutating func ends(with closing: UInt8) throws(Failure) -> Bool {
    skipSpace()
    let byte = try take()
    if byte == closing { depth -= 1 }
    guard byte == closing || byte == UInt8(ascii: ",") else { throw .syntax }
    return byte == closing
  }

  private mutating func isEmpty(closing: UInt8) -> Bool {
    skipSpace()
    guard next == closing else { return false }
    index += 1
    depth -= 1
    return true
  }

  private mutating func object() throws(Failure) -> JSONObject {
    try enter()
    var members: [[UInt8]: JSONValue] = [:]
    let brace = UInt8(ascii: "}")
    guard !isEmpty(closing: brace) else { return JSONObject(members: [:], closingBrace: index - 1 - bytes.startIndex) }
    repeat {
      skipSpace()
      let name = try string()
      skipSpace()
      try expect(":")
      members[name] = try value()
    } while try !ends(with: brace)
    return JSONObject(members: members, closingBrace: index - 1 - bytes.startIndex)
  }

  private mutating func array() throws(Failure) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    guard !isEmpty(closing: UInt8(ascii: "]")) else { return [] }
    repeat { elements.append(try value()) } while try !ends(with: UInt8(ascii: "]"))
    return elements
  }
}

extension JSONReader {
  private mutating func string() throws(Failure) -> [UInt8] {
    try expect("\"")
    var text: [UInt8] = []
    while true {
      let byte = try take()
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "\\"): text += try escape()
      case 0..<0x20: throw .syntax
      default: text.append(byte)
      }
    }
  }

  private mutating func escape() throws(Failure) -> [UInt8] {
    switch try take() {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "u"): return Self.encode(try scalar())
    case let byte where #""\/"#.utf8.contains(byte): return [byte]
    default: throw .syntax
    }
  }

  /// Parses a `\u` escape. A high surrogate is combined with the low surrogate after it, if there
  /// is one.
  private mutating func scalar() throws(Failure) -> UInt32 {
    let unit = try codeUnit()
    guard (0xD800..<0xDC00).contains(unit), bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return unit }
    let start = index
    index += 2
    let low = try codeUnit()
    guard (0xDC00..<0xE000).contains(low) else {
      index = start
      return unit
    }
    return 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
  }

  private mutating func codeUnit() throws(Failure) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try take())).hexDigitValue else { throw .syntax }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  private static func encode(_ scalar: UInt32) -> [UInt8] {
    func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
    return switch scalar {
    case 0..<0x80: [UInt8(scalar)]
    case 0x80..<0x800: [0xC0 | UInt8(scalar >> 6), tail(0)]
    case 0x800..<0x10000: [0xE0 | UInt8(scalar >> 12), tail(6), tail(0)]
    default: [0xF0 | UInt8(scalar >> 18), tail(12), tail(6), tail(0)]
    }
  }

  private mutating func number() throws(Failure) -> JSONNumber {
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let leading = index
    let integer = try digits()
    guard integer == 1 || bytes[leading] != UInt8(ascii: "0") else { throw .syntax }
    if next == UInt8(ascii: ".") {
      index += 1
      _ = try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      index += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
      _ = try digits()
    }
    return JSONNumber(bytes[start..<index])
  }

  /// Skips one or more digits and returns their number.
  private mutating func digits() throws(Failure) -> Int {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    guard index > start else { throw next == nil ? .end : .syntax }
    return index - start
  }
}
