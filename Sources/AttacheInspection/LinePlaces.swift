internal import Attache

/// Finds the values of a line by pointer, and the pointers of texts. Each container is read once,
/// however many of its children are requested.
final class LinePlaces {
  private let root: JSONElement
  /// For the pointer of each container, its children by the last part of their pointer.
  private var children: [UntrustedText: [UntrustedText: JSONElement]] = [:]
  private lazy var texts = TextPlaces(root)

  init(_ root: JSONElement) {
    self.root = root
  }

  /// Returns the value at a JSON pointer.
  func value(at pointer: UntrustedText) -> JSONElement? {
    guard let slash = pointer.utf8.lastIndex(of: UInt8(ascii: "/")) else { return pointer.isEmpty ? root : nil }
    let container = UntrustedText(decoding: pointer.utf8[..<slash])
    if children[container] == nil {
      guard let value = value(at: container) else { return nil }
      children[container] = value.children
    }
    return children[container]?[UntrustedText(decoding: pointer.utf8[pointer.utf8.index(after: slash)...])]
  }

  func holds(_ pointer: UntrustedText) -> Bool {
    value(at: pointer) != nil
  }

  /// Returns the pointer of the first occurrence of a text.
  func place(of text: UntrustedText) -> UntrustedText? {
    texts.pointer(to: text)
  }
}

/// The first occurrence of each text in a line, down to the eighth level.
private struct TextPlaces {
  private struct Step {
    /// The index of the parent among the containers; nil for the line's top-level value.
    var container: Int?
    var name: UntrustedText = ""
  }

  private var containers: [Step] = []
  private var places: [UntrustedText: Step] = [:]

  init(_ root: JSONElement) {
    add(root, Step(), depth: 8)
  }

  func pointer(to text: UntrustedText) -> UntrustedText? {
    guard var step = places[text] else { return nil }
    var parts: [UntrustedText] = []
    while let container = step.container {
      parts.append(step.name)
      step = containers[container]
    }
    return parts.reversed().reduce("") { $0.appending($1) }
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
  /// The children by their part of a pointer. If several members have the same name, the last one
  /// is used.
  fileprivate var children: [UntrustedText: JSONElement] {
    var children: [UntrustedText: JSONElement] = [:]
    forEachChild { name, child in children[UntrustedText(decoding: JSONPointer.part(name).utf8.dropFirst())] = child }
    return children
  }

  /// Calls `body` with each member and its name, or with each element and its index.
  fileprivate func forEachChild(_ body: (UntrustedText, JSONElement) -> Void) {
    forEachMember(body)
    var index = 0
    forEachElement { element in
      body(UntrustedText(String(index)), element)
      index += 1
    }
  }
}
