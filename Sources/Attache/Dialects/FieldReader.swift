/// Reads fields. A value of the wrong type counts as missing, and the reader tries the next field.
struct FieldReader {
  let payload: JSONElement
  /// A cache of values that were already read from the payload.
  let shared: SharedFields
  /// The object that `inside` paths start from; nil for a URL without an object.
  var item: JSONElement?
  var key: UntrustedText?
  var index: Int?
  var url: UntrustedText = ""

  /// Returns the first text that the fields give.
  ///
  /// - Parameter takesIntegers: whether an integer counts as the text of its digits.
  func text(_ fields: [Field], takesIntegers: Bool = false) -> UntrustedText? {
    first(fields) { text($0, takesIntegers) }
  }

  /// Returns the field that gives the text that the fields yield.
  func source(_ fields: [Field]) -> Field? {
    first(fields) { field in text(field, true).map { _ in field } }
  }

  /// Returns the first sound that the fields give: a text, or the `name` of an object, which is
  /// APNs' form for critical alerts.
  func sound(_ fields: [Field]) -> UntrustedText? {
    first(fields) { field in
      let value = value(field)
      return value?.isObject == true ? value?.member("name")?.text.map(field.framed) : text(field, false)
    }
  }

  func boolean(_ fields: [Field]) -> Bool? {
    first(fields, boolean)
  }

  /// Returns the first time that the fields give, in seconds. Negative numbers are skipped.
  func seconds(_ fields: [Field]) -> Double? {
    first(fields) { number($0).flatMap { $0 >= 0 ? $0 : nil } }
  }

  func rectangle(_ fields: [Field]) -> ClippingRect? {
    first(fields) { field in
      switch field.origin {
      case .rectangle(let fixed): fixed
      case .at: shared.rectangle(field) { value(field).flatMap(ClippingRect.init) }
      case .inside, .text, .boolean, .number, .key, .index, .file, .url, .query, .differs: value(field).flatMap(ClippingRect.init)
      }
    }
  }

  private func first<Value>(_ fields: [Field], _ read: (Field) -> Value?) -> Value? {
    for field in fields where item != nil || !field.isInside {
      if shared.holds(field, in: payload), let value = read(field) { return value }
    }
    return nil
  }

  private func text(_ field: Field, _ takesIntegers: Bool) -> UntrustedText? {
    func framed() -> UntrustedText? { unframed(field, takesIntegers).map(field.framed) }
    if case .at = field.origin { return shared.text(field, framed) }
    return framed()
  }

  private func unframed(_ field: Field, _ takesIntegers: Bool) -> UntrustedText? {
    switch field.origin {
    case .inside, .at:
      let value = value(field)
      return value?.text ?? (takesIntegers ? value?.integer.map { UntrustedText(String($0)) } : nil)
    case .text(let text): return UntrustedText(text)
    case .key: return key.flatMap { $0.isEmpty ? nil : $0 }
    case .index(let first):
      // A dialect file may start its index at any number, so the sum may overflow.
      guard let (place, overflow) = index?.addingReportingOverflow(first), !overflow else { return nil }
      return UntrustedText(String(place))
    case .file: return url.lastPathPart
    case .url: return url.isEmpty ? nil : url
    case .query(let name): return url.fileExtension(ofQueryItem: name)
    case .number(let number): return takesIntegers ? Int(exactly: number).map { UntrustedText(String($0)) } : nil
    case .boolean, .rectangle, .differs: return nil
    }
  }

  private func number(_ field: Field) -> Double? {
    if case .number(let fixed) = field.origin { fixed } else { value(field)?.number }
  }

  private func boolean(_ field: Field) -> Bool? {
    switch field.origin {
    case .boolean(let fixed): return fixed
    case .differs(let path, let other):
      guard let text = item?.value(at: path)?.text, let otherText = shared.text(field, { payload.value(at: other)?.text }) else {
        return nil
      }
      return text != otherText
    case .inside, .at: return value(field)?.boolean
    case .text, .number, .rectangle, .key, .index, .file, .url, .query: return nil
    }
  }

  private func value(_ field: Field) -> JSONElement? {
    switch field.origin {
    case .inside(let path): item?.value(at: path)
    case .at(let path): shared.value(field) { payload.value(at: path) }
    case .text, .boolean, .number, .rectangle, .key, .index, .file, .url, .query, .differs: nil
    }
  }
}

extension UntrustedText {
  /// The text after the last slash of a URL's path; nil if it is empty.
  fileprivate var lastPathPart: UntrustedText? {
    let path = utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    let isAuthority = path[..<slash].last == UInt8(ascii: "/") && path[..<slash].dropLast().last == UInt8(ascii: ":")
    let part = path[path.index(after: slash)...]
    return isAuthority || part.isEmpty ? nil : UntrustedText(decoding: part)
  }

  /// Returns `png` for `?name=photo.png`; nil if the item does not exist or has no extension.
  fileprivate func fileExtension(ofQueryItem name: String) -> UntrustedText? {
    guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    let query = utf8[utf8.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
    for item in query.split(separator: UInt8(ascii: "&")) where item.starts(with: (name + "=").utf8) {
      guard let dot = item.lastIndex(of: UInt8(ascii: ".")), item.index(after: dot) < item.endIndex else { return nil }
      return UntrustedText(decoding: item[item.index(after: dot)...])
    }
    return nil
  }
}

extension ClippingRect {
  /// Parses a rectangle in unit coordinates. Returns nil unless all four numbers exist and lie in
  /// 0…1.
  init?(_ value: JSONElement) {
    let names = [["x", "y", "width", "height"], ["X", "Y", "Width", "Height"]]
    let sides = names.lazy.map { $0.compactMap { value.member($0)?.number } }.first { $0.count == 4 }
    guard let sides, sides.allSatisfy({ 0...1 ~= $0 }) else { return nil }
    self.init(x: sides[0], y: sides[1], width: sides[2], height: sides[3])
  }
}

/// A cache of the values that fields read from the payload and not from a reference's own object.
/// They are the same for all references, so each is read once per payload.
///
/// Without the cache, each of thousands of references would search the whole payload again.
final class SharedFields {
  private var conditions = Known<Bool>()
  private var values = Known<JSONElement>()
  private var texts = Known<UntrustedText>()
  private var rectangles = Known<ClippingRect>()
  private var fallbacks = Known<[UntrustedText]>()

  /// Clears the cache, before the next payload.
  func forget() {
    conditions.forget()
    values.forget()
    texts.forget()
    rectangles.forget()
    fallbacks.forget()
  }

  /// Returns whether the field's conditions hold. They all start from the payload.
  func holds(_ field: Field, in payload: JSONElement) -> Bool {
    field.when.isEmpty || conditions.value(for: field) { field.when.hold(in: payload) } == true
  }

  func value(_ field: Field, _ read: () -> JSONElement?) -> JSONElement? { values.value(for: field, read) }
  func text(_ field: Field, _ read: () -> UntrustedText?) -> UntrustedText? { texts.value(for: field, read) }
  func rectangle(_ field: Field, _ read: () -> ClippingRect?) -> ClippingRect? { rectangles.value(for: field, read) }

  /// Returns the further URLs that the payload gives for each reference of a source.
  func fallbacks(of place: MediaPlace, in payload: JSONElement) -> [UntrustedText] {
    guard !place.source.fallbacks.isEmpty else { return [] }
    return fallbacks.value(for: place) { place.source.fallbacks.compactMap { payload.value(at: $0)?.text?.asURL } } ?? []
  }
}

/// Cached values, by the object that describes what to read.
private struct Known<Value> {
  private var values: [ObjectIdentifier: Value?] = [:]

  mutating func forget() {
    if !values.isEmpty { values.removeAll(keepingCapacity: true) }
  }

  mutating func value(for key: AnyObject, _ read: () -> Value?) -> Value? {
    if let known = values[ObjectIdentifier(key)] { return known }
    let value = read()
    values[ObjectIdentifier(key)] = .some(value)
    return value
  }
}
