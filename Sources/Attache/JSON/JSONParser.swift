internal import CSimdJSON

/// Owns one simdjson parser; used by one thread at a time.
@safe
final class JSONParser {
  /// Bytes after a line that must be readable: simdjson loads whole registers. What they hold is of
  /// no matter.
  static let padding = Int(simdjson_PADDING)

  /// Nil when there was no memory for it: then ``parse(_:)`` takes no line for JSON, so whoever
  /// reads lines asks ``hasMemory`` before the first.
  private let handle: OpaquePointer?

  /// The longest text that attache reads, in bytes.
  static let maximumLength = 1 << 20

  /// - Parameter capacity: the longest text, in bytes. Its memory is reserved, and used only when
  ///   such a text comes.
  init(capacity: Int = maximumLength) {
    unsafe handle = simdjson_parser_new(capacity)
  }

  /// Whether there was memory for the parser. No later call needs any.
  var hasMemory: Bool { unsafe handle != nil }

  /// The version of simdjson.
  static var libraryVersion: String {
    "\(simdjson_VERSION_MAJOR).\(simdjson_VERSION_MINOR).\(simdjson_VERSION_REVISION)"
  }

  deinit {
    if let handle = unsafe handle { unsafe simdjson_parser_free(handle) }
  }

  /// The value of a line, or nil when it is no JSON; valid until the next call.
  ///
  /// Valid is what RFC 8259's grammar takes. simdjson refuses some of it, namely numbers out of its
  /// range and surrogates without their other half: such a line is read again from a
  /// ``SimdjsonRepair``. A first half before another escape (`\ud800\u0041`) is not refused:
  /// simdjson makes some other character of the two.
  func parse(_ line: UnsafeRawBufferPointer) -> JSONElement? {
    var root = unsafe simdjson_element()
    let code = unsafe parse(line, into: &root)
    if code == 0 { return unsafe JSONElement(root) }
    guard code == simdjson_STRING_ERROR || code == simdjson_NUMBER_ERROR else { return nil }
    let standIn = unsafe SimdjsonRepair.make(of: line, padding: Self.padding)
    let retried = unsafe standIn.withUnsafeBytes { bytes in
      unsafe parse(UnsafeRawBufferPointer(rebasing: bytes.dropLast(Self.padding)), into: &root)
    }
    return retried == 0 ? unsafe JSONElement(root) : nil
  }

  private func parse(_ line: UnsafeRawBufferPointer, into root: inout simdjson_element) -> CInt {
    guard let handle = unsafe handle, let base = line.baseAddress else { return -1 }
    return unsafe simdjson_parser_parse(handle, base.assumingMemoryBound(to: CChar.self), line.count, &root)
  }
}
