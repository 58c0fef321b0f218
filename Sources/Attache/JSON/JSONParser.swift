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

/// Looks up a fixed list of member names in one pass over an object. Names are compared unescaped.
///
/// The cost of each member of the object depends on the number of names of the same length, and
/// that of a look-up on the number of names found. A look-up does not walk the rest of the list.
/// It owns its buffers, so that a look-up allocates nothing.
@safe
final class MemberLookup {
  private let names: UnsafeMutableBufferPointer<UInt8>
  private let keys: UnsafeMutableBufferPointer<simdjson_string_view>
  private let places: UnsafeMutableBufferPointer<UInt16>
  private let starts: UnsafeMutableBufferPointer<UInt16>
  private let values: UnsafeMutableBufferPointer<simdjson_element>
  private let found: UnsafeMutableBufferPointer<UInt16>
  /// The number of names that the last look-up found.
  private(set) var count = 0

  /// - Parameter names: at most 65,535 names, without repetition.
  init(_ names: [String]) {
    unsafe self.names = .allocate(capacity: names.reduce(1) { $0 + $1.utf8.count })
    unsafe keys = .allocate(capacity: names.count + 1)
    unsafe places = .allocate(capacity: names.count + 1)
    unsafe values = .allocate(capacity: names.count + 1)
    unsafe values.initialize(repeating: simdjson_element())
    unsafe found = .allocate(capacity: names.count + 1)
    unsafe found.initialize(repeating: 0)
    var start = 0
    let lengths = names.map(\.utf8.count)
    let order = names.indices.sorted { lengths[$0] < lengths[$1] }
    for (position, place) in order.enumerated() {
      let end = start + names[place].utf8.count
      _ = unsafe self.names[start..<end].initialize(from: names[place].utf8)
      let bytes = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: self.names[start..<end]))
      let key = unsafe simdjson_string_view(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length: bytes.count)
      unsafe keys.initializeElement(at: position, to: key)
      unsafe places.initializeElement(at: position, to: UInt16(place))
      start = end
    }
    unsafe starts = .allocate(capacity: 66)
    var position = 0
    for length in 0..<66 {
      while position < order.count, length == 65 || lengths[order[position]] < length { position += 1 }
      unsafe starts.initializeElement(at: length, to: UInt16(position))
    }
  }

  deinit {
    unsafe names.deallocate()
    unsafe keys.deallocate()
    unsafe places.deallocate()
    unsafe starts.deallocate()
    unsafe values.deallocate()
    unsafe found.deallocate()
  }

  /// Looks up the names in an object. Finds none in a value of any other type.
  func find(in object: JSONElement?) {
    for position in 0..<count { unsafe values[Int(found[position])] = unsafe simdjson_element() }
    count = 0
    guard let object, let keys = unsafe keys.baseAddress, let places = unsafe places.baseAddress, let starts = unsafe starts.baseAddress,
      let values = unsafe values.baseAddress, let found = unsafe found.baseAddress
    else { return }
    var index = unsafe simdjson_key_index(keys: keys, places: places, starts: starts)
    unsafe count = object.find(&index, into: values, found: found)
  }

  /// Returns the index in the list of a name that the last look-up found. `position` is below
  /// ``count``.
  func place(_ position: Int) -> Int {
    unsafe Int(found[position])
  }

  /// The value that the last look-up found for the name at that index of the list: the last member
  /// of that name.
  subscript(place: Int) -> JSONElement? {
    unsafe JSONElement(values[place])
  }
}
