/// Parses the JSON that stands inside strings of a payload; what is no JSON there is as good as
/// absent.
final class InnerDocument {
  private let parser = JSONParser()
  /// The place whose document the parser holds.
  private var path: DialectPath?
  private var document: JSONElement?
  /// Whether the document that was asked for last stands in a string.
  private(set) var isInString = false

  /// Whether there was memory for the parser.
  var hasMemory: Bool { parser.hasMemory }

  /// Begins with another payload.
  func forget() {
    path = nil
  }

  /// The object or array that a string holds; one that stands there without a string is taken as it
  /// is. Valid until another is asked for.
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
    var bytes = Array(text.utf8)
    let count = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: JSONParser.padding))
    let root = unsafe bytes.withUnsafeBytes { unsafe parser.parse(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    return root.flatMap { $0.isObject || $0.isArray ? $0 : nil }
  }
}
