/// A place in a payload, or several: a ``JSONPointer`` two of whose parts stand for many values.
///
/// `[]` is each element of an array and `{}` each member of an object, in the byte order of the
/// names: what a payload says does not hang on the order in which its members are written. In a
/// dotted path both may also follow a name (`urls[].url`, `att{}`).
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

    /// The part that two brackets stand for; nil for any other two bytes.
    fileprivate init?(many open: UInt8, _ close: UInt8) {
      switch (open, close) {
      case (UInt8(ascii: "["), UInt8(ascii: "]")): self = .elements
      case (UInt8(ascii: "{"), UInt8(ascii: "}")): self = .members
      default: return nil
      }
    }
  }

  /// The parts from the outside in.
  let parts: [Part]
  /// Whether it may stand for several values.
  let isMany: Bool
  /// What an engine has looked up of it; nil outside one, or when the path begins with no one
  /// member.
  private(set) var head: FirstKeyTable.Head?

  private init(parts: [Part]) {
    self.parts = parts
    isMany = parts.contains { part in
      if case .child = part { false } else { true }
    }
  }

  /// The one place that a pointer names; its parts are taken as they are.
  init(_ pointer: JSONPointer) {
    self.init(parts: pointer.tokens.map(Part.child))
  }

  /// Reads a dotted path, or a JSON pointer when it starts with `/`.
  init(_ text: String) throws(JSONPointerError) {
    if text.utf8.first != UInt8(ascii: "/"), let parts = Self.parts(ofDotted: text) {
      self.init(parts: parts)
    } else {
      self.init(parts: try JSONPointer(path: text).tokens.map(Part.init))
    }
  }

  /// The parts of a dotted path in one go, since the table has hundreds; nil when one is empty.
  private static func parts(ofDotted text: String) -> [Part]? {
    var text = text
    return text.withUTF8 { bytes in
      var parts: [Part] = []
      var start = 0
      for end in 0...bytes.count where unsafe end == bytes.count || bytes[end] == UInt8(ascii: ".") {
        guard start < end else { return nil }
        var nameEnd = end
        var many: [Part] = []
        while nameEnd - start > 2, let part = unsafe Part(many: bytes[nameEnd - 2], bytes[nameEnd - 1]) {
          many.insert(part, at: 0)
          nameEnd -= 2
        }
        let name = unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<nameEnd]), as: UTF8.self)
        parts.append(Part(JSONPointer.Token(name)))
        parts += many
        start = end + 1
      }
      return parts
    }
  }

  /// The same for an engine that looks its head up.
  func bound(to heads: FirstKeyTable) -> DialectPath {
    var path = self
    path.head = heads.head(of: self)
    return path
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

  /// The JSON pointer of the one value that all its values stand in, which is its own when it
  /// stands for one.
  var container: String {
    let tokens = parts.prefix { part in
      if case .child = part { true } else { false }
    }
    return JSONPointer(parts: tokens.map { if case .child(let token) = $0 { token.text } else { "" } }).description
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
    var first: JSONElement?
    DialectWalk(path).forEach(from: self) { first = first ?? $0.value }
    return first
  }

  /// Whether one of the values at a place does.
  ///
  /// - Parameter heads: what this payload's places begin with, for paths that are bound to them.
  func contains(at path: DialectPath, _ heads: FirstKeyMatches? = nil, where holds: (JSONElement) -> Bool) -> Bool {
    guard path.isMany else {
      if let heads, let head = path.head { return heads[head.number]?.value(atOne: path, from: head.depth).map(holds) ?? false }
      return value(atOne: path).map(holds) ?? false
    }
    var isThere = false
    DialectWalk(path).forEach(from: self) { isThere = isThere || holds($0.value) }
    return isThere
  }

  /// The value at a place that stands for one.
  ///
  /// - Parameter part: how many parts lead to this value already.
  func value(atOne path: DialectPath, from part: Int = 0) -> JSONElement? {
    var element = self
    for index in part..<path.parts.count {
      guard case .child(let token) = path.parts[index] else { continue }
      guard let child = element.isArray ? element.child(token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }

  /// What has the value at a place that stands for one.
  func parent(atOne path: DialectPath) -> JSONElement? {
    var element = self
    for case .child(let token) in path.parts.dropLast() {
      guard let child = element.isArray ? element.child(token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }
}
