/// Parses JSON inside strings of a payload. Text that is not JSON counts as missing.
final class InnerDocument {
  private let parser = JSONParser()
  /// The path of the document that the parser holds.
  private var path: DialectPath?
  private var document: JSONElement?
  /// Whether the document that was requested last is inside a string.
  private(set) var isInString = false

  /// Whether memory for the parser could be allocated.
  var hasMemory: Bool { parser.hasMemory }

  /// Discards the document, before the next payload.
  func forget() {
    path = nil
  }

  /// Returns the object or array that a string holds. An object or array that is not in a string is
  /// returned unchanged. The result is valid until the next document is requested.
  func document(at path: DialectPath, in payload: JSONElement) -> JSONElement? {
    if self.path == path { return document }
    self.path = path
    isInString = payload.value(at: path)?.isString ?? false
    document = payload.value(at: path).flatMap { value in
      value.isObject || value.isArray ? value : value.text.flatMap(parse)
    }
    return document
  }

  private func parse(_ text: UntrustedText) -> JSONElement? {
    parser.parse(copying: text.utf8).flatMap { $0.isObject || $0.isArray ? $0 : nil }
  }
}
