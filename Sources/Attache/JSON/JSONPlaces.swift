/// The places of the values of a text, by path and by position. Each container is read once, however
/// many of its children are requested.
package final class JSONPlaces {
  private struct Children {
    /// The names of an object's members; empty for an array.
    var names: [UntrustedText] = []
    /// The ranges of the values, in source order.
    var values: [Range<Int>] = []
    /// The index of the last member of each name.
    var indexes: [UntrustedText: Int] = [:]
  }

  let text: JSONText
  /// The children of each container that was read, by its offset.
  private var known: [Int: Children] = [:]

  package init(_ text: JSONText) {
    self.text = text
  }

  /// Returns the value at a path below a value; nil if there is none.
  func value(at path: [JSONPointer.Token], below value: Range<Int>) -> Range<Int>? {
    var value = value
    for token in path {
      let children = children(of: value)
      let index = text.isArray(value) ? token.index : children.indexes[UntrustedText(token.text)]
      guard let index, children.values.indices.contains(index) else { return nil }
      value = children.values[index]
    }
    return value
  }

  /// Returns the path from the text's outermost value to a value.
  func path(to value: Range<Int>) -> [JSONPointer.Token] {
    var path: [JSONPointer.Token] = []
    var current = text.root
    while current != value {
      let children = children(of: current)
      guard let index = children.values.lastIndex(notAfter: value.lowerBound, \.lowerBound) else { break }
      path.append(children.names.isEmpty ? JSONPointer.Token(index: index) : JSONPointer.Token(children.names[index].string))
      current = children.values[index]
    }
    return path
  }

  private func children(of value: Range<Int>) -> Children {
    if let children = known[value.lowerBound] { return children }
    var children = Children()
    if text.isArray(value) {
      children.values = text.elements(of: value)
    } else {
      text.forEachMember(of: value) { member in
        let name = UntrustedText(decoding: text.string(member.name) ?? [])
        children.indexes[name] = children.values.count
        children.names.append(name)
        children.values.append(member.value)
      }
    }
    known[value.lowerBound] = children
    return children
  }
}

extension RandomAccessCollection where Index == Int {
  /// Returns the index of the last element whose offset is at most `offset`, by a binary search. The
  /// elements are in the order of their offsets.
  func lastIndex(notAfter offset: Int, _ start: (Element) -> Int) -> Int? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if start(self[middle]) <= offset { low = middle + 1 } else { high = middle }
    }
    return low > startIndex ? low - 1 : nil
  }
}
