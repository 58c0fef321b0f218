internal import CSimdJSON

/// A value of a parsed line: a position on the parser's tape, valid until the parser reads the next
/// line.
///
/// A query of a value of the wrong type returns nil, false or nothing; it never fails.
@safe
package struct JSONElement {
  private let raw: simdjson_element

  /// Wraps a value from C; nil when C returned none.
  init?(_ raw: simdjson_element) {
    guard unsafe raw.document != nil else { return nil }
    unsafe self.raw = raw
  }

  private enum Kind: CChar {
    case object = 0x7B
    case array = 0x5B
    case string = 0x22
    case boolean = 0x74
    case null = 0x6E
  }

  package var isObject: Bool { unsafe simdjson_element_type(raw) == Kind.object.rawValue }
  /// Whether this is an object or an array.
  var isContainer: Bool {
    let kind = unsafe simdjson_element_type(raw)
    return kind == Kind.object.rawValue || kind == Kind.array.rawValue
  }
  package var isArray: Bool { unsafe simdjson_element_type(raw) == Kind.array.rawValue }

  package var isString: Bool { unsafe simdjson_element_type(raw) == Kind.string.rawValue }
  var isBoolean: Bool { unsafe simdjson_element_type(raw) == Kind.boolean.rawValue }
  var isNumber: Bool { number != nil }

  /// Whether this is neither null nor the empty string.
  var isPresent: Bool {
    let kind = unsafe simdjson_element_type(raw)
    return kind != Kind.null.rawValue && (kind != Kind.string.rawValue || isText)
  }

  /// Whether this is a string of at least one byte.
  package var isText: Bool { unsafe textBytes != nil }

  /// The unescaped string; nil for the empty string and for any other type.
  package var text: UntrustedText? {
    unsafe textBytes.map { bytes in unsafe UntrustedText(decoding: bytes) }
  }

  /// Returns whether this is the string `text`, which must not be empty.
  func isText(_ text: String) -> Bool {
    guard let bytes = unsafe textBytes else { return false }
    return unsafe bytes.count == text.utf8.count && text.utf8.elementsEqual(bytes)
  }

  /// Returns whether this is a nonempty string that starts with `prefix`. ASCII case is ignored.
  func starts(with prefix: String) -> Bool {
    guard let bytes = unsafe textBytes else { return false }
    return unsafe bytes.starts(with: prefix.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
  }

  private var textBytes: UnsafeRawBufferPointer? {
    var view = unsafe simdjson_string_view()
    guard unsafe simdjson_element_get_string(raw, &view), unsafe view.length > 0 else { return nil }
    return unsafe UnsafeRawBufferPointer(start: view.data, count: view.length)
  }

  /// The number, with an integer converted; nil for any other type.
  package var number: Double? {
    var value = 0.0
    return unsafe simdjson_element_get_double(raw, &value) ? value : nil
  }

  /// The number, if it is a whole number of 64 bits, whether or not it is written as an integer.
  package var integer: Int? {
    var value: Int64 = 0
    if unsafe simdjson_element_get_int64(raw, &value) { return Int(value) }
    return number.flatMap(Int.init(exactly:))
  }

  package var boolean: Bool? {
    var value = false
    return unsafe simdjson_element_get_bool(raw, &value) ? value : nil
  }

  /// Whether this is the number 1 in any notation, or `true`. Either sets one of Apple's flags.
  package var isSet: Bool { number == 1 || boolean == true }

  /// Looks up many members in one pass, and returns how many it found.
  func find(
    _ index: UnsafePointer<simdjson_key_index>, into values: UnsafeMutablePointer<simdjson_element>, found: UnsafeMutablePointer<UInt16>
  ) -> Int {
    unsafe simdjson_object_find_many(raw, index, values, found)
  }

  /// Begins a walk over the strings of this container.
  func begin(_ strings: UnsafeMutablePointer<simdjson_strings>, maximumDepth: Int, maximumValues: Int) {
    unsafe simdjson_strings_begin(strings, raw, maximumDepth, maximumValues)
  }

  /// Calls `body` with each element of an array, in order.
  package func forEachElement<Failure>(_ body: (JSONElement) throws(Failure) -> Void) throws(Failure) {
    var elements = unsafe simdjson_array_begin(raw)
    var value = unsafe simdjson_element()
    while unsafe simdjson_array_next(&elements, &value) {
      if let element = unsafe JSONElement(value) { try body(element) }
    }
  }

  /// Calls `body` with each member of an object, in the order of the line, including all members of
  /// a repeated name.
  package func forEachMember<Failure>(_ body: (UntrustedText, JSONElement) throws(Failure) -> Void) throws(Failure) {
    var members = unsafe simdjson_object_begin(raw)
    var key = unsafe simdjson_string_view()
    var value = unsafe simdjson_element()
    while unsafe simdjson_object_next(&members, &key, &value) {
      let name = unsafe UnsafeRawBufferPointer(start: key.data, count: key.length)
      if let element = unsafe JSONElement(value) { try body(unsafe UntrustedText(decoding: name), element) }
    }
  }

  /// Calls `body` with each member of an object and its name, or with each element of an array, in the
  /// order of the line, until it returns false.
  ///
  /// - Returns: whether `body` never returned false.
  func forEachChild(while body: (UnsafeRawBufferPointer?, JSONElement) -> Bool) -> Bool {
    var value = unsafe simdjson_element()
    var members = unsafe simdjson_object_begin(raw)
    var key = unsafe simdjson_string_view()
    while unsafe simdjson_object_next(&members, &key, &value) {
      let name = unsafe UnsafeRawBufferPointer(start: key.data, count: key.length)
      if let element = unsafe JSONElement(value), unsafe !body(name, element) { return false }
    }
    var elements = unsafe simdjson_array_begin(raw)
    while unsafe simdjson_array_next(&elements, &value) {
      if let element = unsafe JSONElement(value), !body(nil, element) { return false }
    }
    return true
  }

  /// Calls `body` with the bytes of a string that is not empty; returns nil for any other value.
  func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    unsafe textBytes.map { unsafe body($0) }
  }

  /// Returns the value that a pointer names: in an object the last member of that name, in an array
  /// the element at that index.
  func value(at tokens: some Sequence<JSONPointer.Token>) -> JSONElement? {
    var element = self
    for token in tokens {
      guard let child = element.isArray ? element.element(at: token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }

  /// Returns the value at the parts of a pointer (``JSONPointer/parts``).
  package func value(at parts: [String]) -> JSONElement? { value(at: parts.lazy.map(JSONPointer.Token.init)) }

  /// Returns the last member of that name.
  package func member(_ name: String) -> JSONElement? {
    var name = name
    return name.withUTF8 { unsafe member(UnsafeRawBufferPointer($0)) }
  }

  /// Returns the last member whose name has these bytes.
  func member(_ name: UnsafeRawBufferPointer) -> JSONElement? {
    unsafe name.withMemoryRebound(to: CChar.self) { characters in
      unsafe JSONElement(simdjson_object_find(raw, simdjson_string_view(data: characters.baseAddress, length: characters.count)))
    }
  }

  /// Returns whether this is the same value of the same line, not only an equal one.
  func isSame(as other: JSONElement) -> Bool {
    unsafe raw.tape_index == other.raw.tape_index && raw.document == other.raw.document
  }

  /// Returns the child that one part of a pointer names, its index among its siblings, counted from
  /// 0, and whether an earlier sibling has the same name.
  func child(_ token: JSONPointer.Token) -> (place: Int, element: JSONElement, isRepeated: Bool)? {
    isArray ? element(at: token).map { ($0.place, $0.element, false) } : lastMember(named: token)
  }

  private func lastMember(named token: JSONPointer.Token) -> (place: Int, element: JSONElement, isRepeated: Bool)? {
    var members = unsafe simdjson_object_begin(raw)
    var key = unsafe simdjson_string_view()
    var value = unsafe simdjson_element()
    var found: (place: Int, element: JSONElement, isRepeated: Bool)?
    var place = 0
    while unsafe simdjson_object_next(&members, &key, &value) {
      let name = unsafe UnsafeRawBufferPointer(start: key.data, count: key.length)
      if name.count == token.text.utf8.count, unsafe token.text.utf8.elementsEqual(name), let element = unsafe JSONElement(value) {
        found = (place, element, found != nil)
      }
      place += 1
    }
    return found
  }

  private func element(at token: JSONPointer.Token) -> (place: Int, element: JSONElement)? {
    guard let index = token.index else { return nil }
    var elements = unsafe simdjson_array_begin(raw)
    var value = unsafe simdjson_element()
    var place = 0
    while unsafe simdjson_array_next(&elements, &value) {
      if place == index { return unsafe JSONElement(value).map { (place, $0) } }
      place += 1
    }
    return nil
  }
}

extension JSONElement {
  package var isNull: Bool { !isPresent && !isString }

  /// The name of the value's type in a sentence.
  package var typeName: String {
    if isObject { return "a dictionary" }
    if isArray { return "an array" }
    if isString { return "a string" }
    if let boolean { return boolean ? "true" : "false" }
    if let number { return "the number \(integer.map(String.init) ?? "\(number)")" }
    return "null"
  }
}
