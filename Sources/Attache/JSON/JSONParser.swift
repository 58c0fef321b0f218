internal import CSimdJSON

/// Owns one simdjson parser. Only one thread may use it at a time.
@safe
package final class JSONParser {
  /// The number of bytes after a line that must be readable, because simdjson loads whole
  /// registers. Their content does not matter.
  package static let padding = Int(simdjson_PADDING)

  /// Nil when memory was short. ``parse(_:)`` then treats no line as JSON, so code that reads lines
  /// checks ``hasMemory`` before the first line.
  private let handle: OpaquePointer?

  /// The longest text that attache reads, in bytes.
  static let maximumLength = 1 << 20

  /// - Parameter capacity: the longest text, in bytes. The memory is reserved, and used only when a
  ///   text of that length is parsed.
  package init(capacity: Int = maximumLength) {
    unsafe handle = simdjson_parser_new(capacity)
  }

  /// Whether the parser's memory could be allocated. No later call needs memory.
  var hasMemory: Bool { unsafe handle != nil }

  /// The version of simdjson.
  static var libraryVersion: String {
    "\(simdjson_VERSION_MAJOR).\(simdjson_VERSION_MINOR).\(simdjson_VERSION_REVISION)"
  }

  deinit {
    if let handle = unsafe handle { unsafe simdjson_parser_free(handle) }
  }

  /// Parses a line. Returns its value, valid until the next call, or nil when it is not JSON.
  ///
  /// A line is valid if it follows the grammar of RFC 8259. simdjson rejects some valid lines,
  /// namely those with numbers out of its range or with unpaired surrogates; such a line is parsed
  /// again from a ``SimdjsonRepair``. simdjson accepts a high surrogate before another escape
  /// (`\ud800\u0041`), but decodes the two to some other character.
  package func parse(_ line: UnsafeRawBufferPointer) -> JSONElement? {
    var root = unsafe simdjson_element()
    let code = unsafe parse(line, into: &root)
    if code == 0 { return unsafe JSONElement(root) }
    guard code == simdjson_STRING_ERROR || code == simdjson_NUMBER_ERROR else { return nil }
    guard let repaired = unsafe SimdjsonRepair.make(of: line) else { return nil }
    let retried = unsafe repaired.withUnsafeBytes { bytes in
      unsafe parse(UnsafeRawBufferPointer(rebasing: bytes.dropLast(Self.padding)), into: &root)
    }
    return retried == 0 ? unsafe JSONElement(root) : nil
  }

  /// Parses a copy of a text, which needs no padding.
  package func parse(copying text: some Collection<UInt8>) -> JSONElement? {
    parse(padded: Self.padded(text))
  }

  /// Parses a text of ``padded(_:)``.
  func parse(padded text: [UInt8]) -> JSONElement? {
    unsafe text.withUnsafeBytes { unsafe parse(UnsafeRawBufferPointer(rebasing: $0.dropLast(Self.padding))) }
  }

  /// Returns a copy of a text, followed by the padding.
  package static func padded(_ text: some Collection<UInt8>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(text.count + padding)
    copy.append(contentsOf: text)
    copy.append(contentsOf: repeatElement(0, count: padding))
    return copy
  }

  private func parse(_ line: UnsafeRawBufferPointer, into root: inout simdjson_element) -> CInt {
    guard let handle = unsafe handle, let base = line.baseAddress else { return -1 }
    return unsafe simdjson_parser_parse(handle, base.assumingMemoryBound(to: CChar.self), line.count, &root)
  }
}
