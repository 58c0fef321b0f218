/// Writes JSON text as bytes, without spaces. Adds commas automatically.
///
/// The caller pairs each begin with an end, and writes one value after each key.
package struct JSONWriter: Sendable {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []
  /// The values that were copied from another text by ``copy(_:of:)``, in the order of writing.
  package private(set) var copies: [JSONCopy] = []
  /// Whether the next key or value needs a comma before it.
  private var isAfterValue = false

  /// - Parameter capacity: the expected number of bytes.
  package init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  package mutating func beginObject() { open("{") }
  package mutating func endObject() { close("}") }
  package mutating func beginArray() { open("[") }
  package mutating func endArray() { close("]") }

  /// Writes a member's key and its colon.
  package mutating func key(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    isAfterValue = false
  }

  /// Writes a key and its colon. `name` is already JSON, with its quotes.
  package mutating func key(source name: some Collection<UInt8>) {
    source(name)
    bytes.append(UInt8(ascii: ":"))
    isAfterValue = false
  }

  /// Writes a string. Escapes only what JSON requires.
  package mutating func string(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      if unsafe utf8.contains(where: Self.needsEscape) {
        for index in utf8.indices { escape(unsafe utf8[index]) }
      } else {
        unsafe bytes.append(contentsOf: utf8)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a string whose bytes need no escape.
  ///
  /// - Parameter append: appends the bytes.
  package mutating func string(unescaped append: (inout [UInt8]) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(&bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes an untrusted text as a string.
  package mutating func string(_ text: UntrustedText) {
    string(text.string)
  }

  /// Writes a value that is already JSON.
  package mutating func source(_ value: some Collection<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Writes a value of another text and records the copy.
  package mutating func copy(_ value: Range<Int>, of text: JSONText) {
    source(text.source(value))
    copies.append(JSONCopy(start: bytes.count - value.count, source: value))
  }

  package mutating func integer(_ value: some BinaryInteger) { word(String(value)) }

  /// Writes a number in the fewest digits that parse to the same value; writes `null` for infinity
  /// and not-a-number, which JSON cannot express.
  package mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    let text = value.description
    word(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  package mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }
  package mutating func null() { word("null") }

  private mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    isAfterValue = false
  }

  private mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    isAfterValue = true
  }

  private mutating func word(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func separate() {
    if isAfterValue { bytes.append(UInt8(ascii: ",")) }
    isAfterValue = true
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
    case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
    case 0x08: bytes.append(contentsOf: #"\b"#.utf8)
    case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
    case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
    case 0x0C: bytes.append(contentsOf: #"\f"#.utf8)
    case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
    case ..<0x20: bytes.append(contentsOf: ((byte < 0x10 ? #"\u000"# : #"\u00"#) + String(byte, radix: 16)).utf8)
    default: bytes.append(byte)
    }
  }
}
