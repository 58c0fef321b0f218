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
