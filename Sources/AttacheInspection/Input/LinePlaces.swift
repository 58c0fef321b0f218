internal import Attache

/// Finds the values of a line by pointer. Each container is read once, however many of its children are
/// requested.
final class LinePlaces {
  private let root: JSONElement
  /// For the pointer of each container, its children by the last part of their pointer.
  private var children: [UntrustedText: [UntrustedText: JSONElement]] = [:]

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
