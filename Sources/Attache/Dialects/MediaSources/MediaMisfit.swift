/// A value where a vendor's helper looks for a URL, or on the way to it, that has another type than the
/// helper reads, and that contains a URL.
struct MediaMisfit {
  /// The string that contains the URL.
  let text: UntrustedText
  /// The place of the value.
  private(set) var steps: [JSONPointer.Token]
  private let what: String
  /// The part of the source's path that leads on from the value.
  private let rest: ArraySlice<DialectPath.Part>

  /// Examines the values on a source's path; nil if all are absent or have the right type.
  init?(_ source: MediaSource, in payload: JSONElement) {
    guard case .url(let path) = source.origin, source.json == nil, source.role == .attachment else { return nil }
    self.init(path.parts[...], from: payload, steps: [], takesAnyForm: source.takesAnyForm)
  }

  private init?(_ parts: ArraySlice<DialectPath.Part>, from value: JSONElement, steps: [JSONPointer.Token], takesAnyForm: Bool) {
    let found: MediaMisfit?
    switch parts.first {
    case nil where value.isString || takesAnyForm: found = nil
    case .child(let token) where value.isObject && (token.index == nil || value.child(token) != nil) || value.isArray && token.index != nil:
      found = value.child(token).flatMap { child in
        MediaMisfit(parts.dropFirst(), from: child.element, steps: steps + [token], takesAnyForm: takesAnyForm)
      }
    case .elements where value.isArray, .members where value.isObject:
      found = value.firstChild { name, child in
        MediaMisfit(parts.dropFirst(), from: child, steps: steps + [JSONPointer.Token(name.string)], takesAnyForm: takesAnyForm)
      }
    case nil, .child, .elements, .members:
      guard let text = value.textWithURL(depth: 4) else { return nil }
      (self.text, self.steps, what, rest) = (text, steps, value.typeName, parts)
      return
    }
    guard let found else { return nil }
    self = found
  }

  /// What is wrong, and the right form: one printable sentence without a full stop.
  ///
  /// - Parameter dialect: the name of the row.
  func sentence(_ dialect: String) -> String {
    let expected =
      switch rest.first {
      case nil: "a string"
      case .elements: "an array"
      case .child(let token) where token.index != nil: "an array"
      case .child, .members: "a dictionary"
      }
    let place = JSONPointer(tokens: steps).description
    let name = PrintableText.of(UntrustedText(steps.last?.text ?? ""))
    return "\(PrintableText.of(UntrustedText(place))) is \(what), but \(dialect) reads \(expected) there: write \"\(name)\": \(rest.sample)"
  }
}

extension ArraySlice<DialectPath.Part> {
  /// An example of the value that the parts lead through, as JSON.
  fileprivate var sample: String {
    switch first {
    case nil: return #""https://…""#
    case .elements: return "[\(dropFirst().sample)]"
    case .members: return #"{"id": \#(dropFirst().sample)}"#
    case .child(let token):
      return token.index == nil
        ? #"{"\#(PrintableText.of(UntrustedText(token.text)))": \#(dropFirst().sample)}"# : "[\(dropFirst().sample)]"
    }
  }
}

extension Condition {
  /// The condition without its demand for a type.
  var ofAnyKind: Condition {
    switch self {
    case .kind(let path, _): .present(path)
    case .any(let conditions): .any(conditions.map(\.ofAnyKind))
    case .present, .equals, .starts, .absent, .none: self
    }
  }
}

extension JSONElement {
  /// Returns the first result for a member and its name, or for an element and its index.
  fileprivate func firstChild<Result>(_ body: (UntrustedText, JSONElement) -> Result?) -> Result? {
    var found: Result?
    var index = 0
    forEachMember { name, child in found = found ?? body(name, child) }
    forEachElement { child in
      found = found ?? body(UntrustedText(String(index)), child)
      index += 1
    }
    return found
  }

  /// Returns the first string in this value that contains `://`.
  fileprivate func textWithURL(depth: Int) -> UntrustedText? {
    if let text { return text.containsURL ? text : nil }
    return depth == 0 ? nil : firstChild { _, child in child.textWithURL(depth: depth - 1) }
  }
}

extension UntrustedText {
  /// Whether the text contains `://`, with or without the escapes of JSON.
  fileprivate var containsURL: Bool {
    var last: [UInt8] = []
    for byte in utf8 where byte != UInt8(ascii: "\\") {
      last = last.suffix(2) + [byte]
      if last.elementsEqual("://".utf8) { return true }
    }
    return false
  }
}
