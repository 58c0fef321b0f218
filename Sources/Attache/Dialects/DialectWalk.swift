/// Goes to every value that a path stands for.
struct DialectWalk {
  /// A value and what stands around it.
  struct Find {
    var value: JSONElement
    /// What the last `[]` or `{}` of the path stands for, else the object that has the value.
    var item: JSONElement?
    /// The name of the member that the last `{}` stands for.
    var key: String?
    /// The place in its array of what the last `[]` stands for.
    var index: Int?
    /// The JSON pointer of the value, if that was asked for.
    var pointer = ""
    /// Whether a `[]` or `{}` says what the item is.
    var isPicked = false
  }

  private let parts: [DialectPath.Part]
  private let isLocated: Bool
  /// What was found, in order.
  private(set) var finds: [Find] = []

  init(_ path: DialectPath, isLocated: Bool) {
    parts = path.parts
    self.isLocated = isLocated
  }

  /// - Parameters:
  ///   - root: the value that the path counts from.
  ///   - pointer: where that stands.
  mutating func begin(at root: JSONElement, pointer: String = "") {
    go(on: Find(value: root, item: root, pointer: pointer), part: 0)
  }

  private mutating func go(on find: Find, part: Int) {
    guard part < parts.count else { return finds.append(find) }
    switch parts[part] {
    case .child(let token):
      guard let child = find.value.isArray ? find.value.child(token)?.element : find.value.member(token.text) else { return }
      var next = find
      next.value = child
      if !find.isPicked { next.item = find.value }
      locate(&next, token.text)
      go(on: next, part: part + 1)
    case .elements:
      var index = 0
      find.value.forEachElement { element in
        pick(element, of: find, name: nil, index: index, part: part)
        index += 1
      }
    case .members:
      for (name, member) in find.value.membersByName { pick(member, of: find, name: name, index: nil, part: part) }
    }
  }

  private mutating func pick(_ value: JSONElement, of find: Find, name: String?, index: Int?, part: Int) {
    var next = find
    next.value = value
    next.item = value
    next.isPicked = true
    if let name { next.key = name }
    if let index { next.index = index }
    locate(&next, name ?? String(index ?? 0))
    go(on: next, part: part + 1)
  }

  private func locate(_ find: inout Find, _ name: String) {
    if isLocated { find.pointer += JSONPointer(name).description }
  }
}

extension JSONElement {
  /// The members in the byte order of their names; of several with one name the last.
  fileprivate var membersByName: [(String, JSONElement)] {
    var members: [(name: String, value: JSONElement)] = []
    forEachMember { name, value in
      if let same = members.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        members[same].value = value
      } else {
        members.append((name, value))
      }
    }
    return members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
