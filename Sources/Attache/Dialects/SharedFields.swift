/// What the fields give that read the payload and not a reference's own object: it is the same for
/// all references, so it is read once a payload.
///
/// Without it, each of thousands of references would search the whole payload again.
final class SharedFields {
  private var conditions = Known<Bool>()
  private var values = Known<JSONElement>()
  private var texts = Known<UntrustedText>()
  private var rectangles = Known<ClippingRect>()
  private var fallbacks = Known<[UntrustedText]>()

  /// Begins with another payload.
  func forget() {
    conditions.forget()
    values.forget()
    texts.forget()
    rectangles.forget()
    fallbacks.forget()
  }

  /// Whether the field's conditions hold, which all count from the payload.
  func holds(_ field: Field, in payload: JSONElement) -> Bool {
    field.when.isEmpty || conditions.value(for: field) { field.when.hold(in: payload) } == true
  }

  func value(_ field: Field, _ read: () -> JSONElement?) -> JSONElement? { values.value(for: field, read) }
  func text(_ field: Field, _ read: () -> UntrustedText?) -> UntrustedText? { texts.value(for: field, read) }
  func rectangle(_ field: Field, _ read: () -> ClippingRect?) -> ClippingRect? { rectangles.value(for: field, read) }

  /// The further URLs that the payload gives for each reference of a source.
  func fallbacks(of place: MediaPlace, in payload: JSONElement) -> [UntrustedText] {
    guard !place.source.fallbacks.isEmpty else { return [] }
    return fallbacks.value(for: place) { place.source.fallbacks.compactMap { payload.value(at: $0)?.text } } ?? []
  }
}

/// What was read, by the object that says what to read.
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
