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
