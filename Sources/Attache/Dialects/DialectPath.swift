/// A place in a payload, or several: a ``JSONPointer`` two of whose parts stand for many values.
///
/// `[]` is each element of an array and `{}` each member of an object, in the byte order of the names: what a payload says does not hang
/// on the order in which its members are written. In a dotted path `[]` may also follow a name (`urls[].url`).
struct DialectPath: Hashable, Sendable, CustomStringConvertible {
  enum Part: Hashable, Sendable {
    case child(JSONPointer.Token)
    case elements
    case members

    fileprivate init(_ token: JSONPointer.Token) {
      switch token.text {
      case "[]": self = .elements
      case "{}": self = .members
      default: self = .child(token)
      }
    }
  }

  /// The parts from the outside in.
  let parts: [Part]

  /// The one place that a pointer names; its parts are taken as they are.
  init(_ pointer: JSONPointer) {
    parts = pointer.tokens.map(Part.child)
  }

  /// Reads a dotted path, or a JSON pointer when it starts with `/`.
  init(_ text: String) throws(JSONPointerError) {
    let isDotted = text.utf8.first != UInt8(ascii: "/")
    var parts: [Part] = []
    for token in try JSONPointer(path: text).tokens {
      if isDotted, token.text.utf8.count > 2, token.text.hasSuffix("[]") {
        parts += [Part(JSONPointer.Token(String(token.text.dropLast(2)))), .elements]
      } else {
        parts.append(Part(token))
      }
    }
    self.parts = parts
  }

  /// The JSON pointer, with the two special parts as they are.
  var description: String {
    JSONPointer(
      parts: parts.map { part in
        switch part {
        case .child(let token): token.text
        case .elements: "[]"
        case .members: "{}"
        }
      }
    ).description
  }

  /// Whether it may stand for several values.
  var isMany: Bool {
    parts.contains { part in
      if case .child = part { false } else { true }
    }
  }

  /// The member of the payload that the place begins with; nil when that is no one member.
  var first: String? {
    if case .child(let token)? = parts.first { token.text } else { nil }
  }
}

extension JSONElement {
  /// The value at a place; the first of them when it stands for several.
  func value(at path: DialectPath) -> JSONElement? {
    guard path.isMany else { return value(atOne: path) }
    var walk = DialectWalk(path, isLocated: false)
    walk.begin(at: self)
    return walk.finds.first?.value
  }

  /// Whether one of the values at a place does.
  func contains(at path: DialectPath, where holds: (JSONElement) -> Bool) -> Bool {
    guard path.isMany else { return value(atOne: path).map(holds) ?? false }
    var walk = DialectWalk(path, isLocated: false)
    walk.begin(at: self)
    return walk.finds.contains { holds($0.value) }
  }

  private func value(atOne path: DialectPath) -> JSONElement? {
    var element = self
    for case .child(let token) in path.parts {
      guard let child = element.isArray ? element.child(token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }
}
