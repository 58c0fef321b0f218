extension MediaMisfit {
  /// Examines the values on a source's path; nil if all are absent or have the right type.
  ///
  /// - Parameter dialect: the name of the source's row.
  convenience init?(_ source: MediaSource, of dialect: String, in payload: JSONElement) {
    guard case .url(let path) = source.origin, source.json == nil, source.role == .attachment,
      let found = Found(path.parts[...], from: payload, steps: [], takesAnyForm: source.takesAnyForm)
    else { return nil }
    self.init(
      dialect: dialect, text: found.text, place: JSONPointer(tokens: found.steps),
      .type(actual: found.value.typeName, expected: found.rest.kind, sample: found.rest.sample))
  }
}

/// The first value of another type on a path.
private struct Found {
  let text: UntrustedText
  let value: JSONElement
  let steps: [JSONPointer.Token]
  /// The part of the path that leads on from the value.
  let rest: ArraySlice<DialectPath.Part>

  init?(_ parts: ArraySlice<DialectPath.Part>, from value: JSONElement, steps: [JSONPointer.Token], takesAnyForm: Bool) {
    let found: Found?
    switch parts.first {
    case nil where value.isString || takesAnyForm: found = nil
    case .child(let token) where value.isObject && (token.index == nil || value.child(token) != nil) || value.isArray && token.index != nil:
      found = value.child(token).flatMap { child in
        Found(parts.dropFirst(), from: child.element, steps: steps + [token], takesAnyForm: takesAnyForm)
      }
    case .elements where value.isArray, .members where value.isObject:
      found = value.firstChild { name, child in
        Found(parts.dropFirst(), from: child, steps: steps + [JSONPointer.Token(name.string)], takesAnyForm: takesAnyForm)
      }
    case nil, .child, .elements, .members:
      guard let text = value.textWithURL(depth: 4) else { return nil }
      (self.text, self.value, self.steps, rest) = (text, value, steps, parts)
      return
    }
    guard let found else { return nil }
    self = found
  }
}

extension MediaSource {
  /// Calls `body` with the place of each text that the source reads, although an alternative may take
  /// precedence.
  func forEachText(in payload: JSONElement, _ body: ([JSONPointer.Token]) -> Void) {
    if let json {
      json.first(from: payload).map(body)
    } else if case .url(let path) = origin, when.hold(in: payload) {
      DialectWalk(path, isLocated: true).forEach(from: payload) { find in
        if takesAnyForm || find.value.text != nil { body(find.steps) }
      }
    }
  }
}

extension ArraySlice<DialectPath.Part> {
  /// The type of the value that the parts lead through.
  fileprivate var kind: String {
    switch first {
    case nil: "a string"
    case .elements: "an array"
    case .child(let token) where token.index != nil: "an array"
    case .child, .members: "a dictionary"
    }
  }

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
