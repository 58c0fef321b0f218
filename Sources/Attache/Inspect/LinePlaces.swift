/// Finds the values of a line by their places, and texts' places; each container is read once, however many of its children are asked for.
final class LinePlaces {
  private let root: JSONElement
  /// By a container's pointer, what it has by the last part of the pointer.
  private var children: [String: [String: JSONElement]] = [:]
  private lazy var texts = TextPlaces(root)

  init(_ root: JSONElement) {
    self.root = root
  }

  /// The value at a JSON pointer.
  func value(at pointer: String) -> JSONElement? {
    guard let slash = pointer.utf8.lastIndex(of: UInt8(ascii: "/")) else { return pointer.isEmpty ? root : nil }
    let container = String(pointer[..<slash])
    if children[container] == nil {
      guard let value = value(at: container) else { return nil }
      children[container] = value.children
    }
    return children[container]?[String(pointer[pointer.utf8.index(after: slash)...])]
  }

  func holds(_ pointer: String) -> Bool {
    value(at: pointer) != nil
  }

  /// Where a text stands first.
  func place(of text: String) -> String? {
    texts.pointer(to: text)
  }
}

/// Where each text of a line stands first, down to the eighth level.
private struct TextPlaces {
  private struct Step {
    /// The place among the containers; nil for the line's own value.
    var container: Int?
    var name = ""
  }

  private var containers: [Step] = []
  private var places: [String: Step] = [:]

  init(_ root: JSONElement) {
    add(root, Step(), depth: 8)
  }

  func pointer(to text: String) -> String? {
    guard var step = places[text] else { return nil }
    var parts: [String] = []
    while let container = step.container {
      parts.append(step.name)
      step = containers[container]
    }
    return JSONPointer(parts: parts.reversed()).description
  }

  private mutating func add(_ value: JSONElement, _ step: Step, depth: Int) {
    if let text = value.text {
      if places[text] == nil { places[text] = step }
      return
    }
    guard depth > 0, value.isObject || value.isArray else { return }
    let container = containers.count
    containers.append(step)
    value.forEachChild { name, child in add(child, Step(container: container, name: name), depth: depth - 1) }
  }
}

extension JSONElement {
  /// The children by their parts of a pointer; of members with one name the last.
  fileprivate var children: [String: JSONElement] {
    var children: [String: JSONElement] = [:]
    forEachChild { name, child in children[String(JSONPointer(name).description.dropFirst())] = child }
    return children
  }

  /// Calls `body` with each member and its name, or with each element and its index.
  fileprivate func forEachChild(_ body: (String, JSONElement) -> Void) {
    forEachMember(body)
    var index = 0
    forEachElement { element in
      body(String(index), element)
      index += 1
    }
  }
}
