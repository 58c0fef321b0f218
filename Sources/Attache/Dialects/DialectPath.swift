/// A path to one or several places in a payload: a ``JSONPointer`` with two parts that match many
/// values.
///
/// `[]` matches each element of an array. `{}` matches each member of an object, in the byte order
/// of the names, so the result does not depend on the order in which members are written. In a
/// dotted path, both may also follow a name (`urls[].url`, `att{}`).
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

    /// Returns the part that two brackets denote; nil for any other two bytes.
    fileprivate init?(many open: UInt8, _ close: UInt8) {
      switch (open, close) {
      case (UInt8(ascii: "["), UInt8(ascii: "]")): self = .elements
      case (UInt8(ascii: "{"), UInt8(ascii: "}")): self = .members
      default: return nil
      }
    }
  }

  /// The parts, outermost first.
  let parts: [Part]
  /// Whether the path can match several values.
  let isMany: Bool
  /// The engine's entry for the first key of this path; nil if the path is not bound to an engine
  /// or does not begin with a single member.
  private(set) var head: FirstKeyTable.Head?

  private init(parts: [Part]) {
    self.parts = parts
    isMany = parts.contains { part in
      if case .child = part { false } else { true }
    }
  }

  /// Creates a path to the one place that a pointer names. Its parts are taken literally.
  init(_ pointer: JSONPointer) {
    self.init(parts: pointer.tokens.map(Part.child))
  }

  /// Parses a dotted path, or a JSON pointer if the text starts with `/`.
  init(_ text: String) throws(JSONPointerError) {
    if text.utf8.first != UInt8(ascii: "/"), let parts = Self.parts(ofDotted: text) {
      self.init(parts: parts)
    } else {
      self.init(parts: try JSONPointer(path: text).tokens.map(Part.init))
    }
  }

  /// Splits a dotted path in one pass, because the table has hundreds; nil if a part is empty.
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

  /// Returns the same path with its first key looked up in an engine's table.
  func bound(to heads: FirstKeyTable) -> DialectPath {
    var path = self
    path.head = heads.head(of: self)
    return path
  }

  /// The parts of the JSON pointer, with `[]` and `{}` unchanged.
  var tokens: [JSONPointer.Token] {
    parts.map { part in
      switch part {
      case .child(let token): token
      case .elements: JSONPointer.Token("[]")
      case .members: JSONPointer.Token("{}")
      }
    }
  }

  /// The JSON pointer, with `[]` and `{}` unchanged.
  var description: String { JSONPointer(tokens: tokens).description }

  /// The JSON pointer of the value that contains all matches. If the path matches only one place,
  /// this is that place.
  var container: String {
    let tokens = parts.prefix { part in
      if case .child = part { true } else { false }
    }
    return JSONPointer(parts: tokens.map { if case .child(let token) = $0 { token.text } else { "" } }).description
  }

  /// The top-level member that the path begins with; nil if that is not a single member.
  var first: String? {
    if case .child(let token)? = parts.first { token.text } else { nil }
  }
}

extension JSONElement {
  /// Returns the value at a path. If the path matches several values, returns the first.
  func value(at path: DialectPath) -> JSONElement? {
    guard path.isMany else { return value(atOne: path) }
    var first: JSONElement?
    DialectWalk(path).forEach(from: self) { first = first ?? $0.value }
    return first
  }

  /// Returns whether a value at the path satisfies the predicate.
  ///
  /// - Parameter heads: the first keys found in this payload, for paths that are bound to an
  ///   engine.
  func contains(at path: DialectPath, _ heads: FirstKeyMatches? = nil, where holds: (JSONElement) -> Bool) -> Bool {
    guard path.isMany else {
      if let heads, let head = path.head { return heads[head.number]?.value(atOne: path, from: head.depth).map(holds) ?? false }
      return value(atOne: path).map(holds) ?? false
    }
    var isThere = false
    DialectWalk(path).forEach(from: self) { isThere = isThere || holds($0.value) }
    return isThere
  }

  /// Returns the value at a path that matches one place.
  ///
  /// - Parameter part: the number of parts that already lead to this value.
  func value(atOne path: DialectPath, from part: Int = 0) -> JSONElement? {
    var element = self
    for index in part..<path.parts.count {
      guard case .child(let token) = path.parts[index] else { continue }
      guard let child = element.isArray ? element.child(token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }

  /// Returns the container of the value at a path that matches one place.
  func parent(atOne path: DialectPath) -> JSONElement? {
    var element = self
    for case .child(let token) in path.parts.dropLast() {
      guard let child = element.isArray ? element.child(token)?.element : element.member(token.text) else { return nil }
      element = child
    }
    return element
  }
}

/// Visits every value that a path matches.
struct DialectWalk {
  /// A matched value and its context.
  struct Find {
    var value: JSONElement
    /// The element or member that the last `[]` or `{}` of the path matched, otherwise the object
    /// that contains the value.
    var item: JSONElement?
    /// The name of the member that the last `{}` matched.
    var key: UntrustedText?
    /// The index of the element that the last `[]` matched.
    var index: Int?
    /// The path of the value, if the caller asked for it.
    var steps: [JSONPointer.Token] = []
    /// The number of steps that lead to the item.
    var itemDepth = 0
    /// Whether a `[]` or `{}` determined the item.
    var isPicked = false
  }

  private let parts: [DialectPath.Part]
  private let isLocated: Bool

  init(_ path: DialectPath, isLocated: Bool = false) {
    parts = path.parts
    self.isLocated = isLocated
  }

  /// Calls `body` with each value, in order.
  ///
  /// - Parameters:
  ///   - root: the value that the path starts from.
  ///   - steps: the path of `root`.
  func forEach(from root: JSONElement, steps: [JSONPointer.Token] = [], _ body: (Find) -> Void) {
    go(on: Find(value: root, item: root, steps: steps, itemDepth: steps.count), part: 0, body)
  }

  private func go(on find: Find, part: Int, _ body: (Find) -> Void) {
    guard part < parts.count else { return body(find) }
    switch parts[part] {
    case .child(let token):
      guard let child = find.value.isArray ? find.value.child(token)?.element : find.value.member(token.text) else { return }
      var next = find
      next.value = child
      if !find.isPicked { (next.item, next.itemDepth) = (find.value, find.steps.count) }
      if isLocated { next.steps.append(token) }
      go(on: next, part: part + 1, body)
    case .elements:
      var index = 0
      find.value.forEachElement { element in
        go(on: picked(element, of: find, name: nil, index: index), part: part + 1, body)
        index += 1
      }
    case .members:
      for (name, member) in find.value.membersByName { go(on: picked(member, of: find, name: name, index: nil), part: part + 1, body) }
    }
  }

  private func picked(_ value: JSONElement, of find: Find, name: UntrustedText?, index: Int?) -> Find {
    var next = find
    next.value = value
    next.item = value
    next.isPicked = true
    if let name { next.key = name }
    if let index { next.index = index }
    guard isLocated else { return next }
    next.steps.append(name.map { JSONPointer.Token($0.string) } ?? JSONPointer.Token(index: index ?? 0))
    next.itemDepth = next.steps.count
    return next
  }
}

extension DialectPath {
  /// Returns the path of the first value that this path matches; nil if there is none.
  func first(from root: JSONElement) -> [JSONPointer.Token]? {
    guard isMany else { return tokens }
    var first: [JSONPointer.Token]?
    DialectWalk(self, isLocated: true).forEach(from: root) { first = first ?? $0.steps }
    return first
  }
}

extension JSONElement {
  /// The members in the byte order of their names. If several have the same name, only the last is
  /// included.
  fileprivate var membersByName: [(UntrustedText, JSONElement)] {
    var members: [(name: UntrustedText, place: Int, value: JSONElement)] = []
    forEachMember { name, value in members.append((name, members.count, value)) }
    members.sort { left, right in
      if left.name == right.name { return left.place < right.place }
      return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
    return members.indices.compactMap { index in
      let isLast = index + 1 == members.count || members[index + 1].name != members[index].name
      return isLast ? (members[index].name, members[index].value) : nil
    }
  }
}
