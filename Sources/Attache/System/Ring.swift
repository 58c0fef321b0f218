/// A queue in a circular buffer that is reused. Appending, removing the first element, and indexing
/// take constant time.
struct Ring<Element> {
  private var slots: [Element?] = Array(repeating: nil, count: 16)
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The element at `index`, counted from the first.
  subscript(index: Int) -> Element {
    get {
      guard let element = slots[place(index)] else { preconditionFailure("an index outside the ring") }
      return element
    }
    set { slots[place(index)] = newValue }
  }

  mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    count += 1
    slots[place(count - 1)] = element
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) & (slots.count - 1)
    count -= 1
    return element
  }

  /// Maps an index to a slot. The number of slots is a power of two, so a mask replaces the
  /// remainder.
  private func place(_ index: Int) -> Int {
    precondition(index >= 0 && index < count, "an index outside the ring")
    return (head + index) & (slots.count - 1)
  }

  private mutating func grow() {
    slots = (0..<count).map { slots[(head + $0) & (slots.count - 1)] } + Array(repeating: nil, count: count)
    head = 0
  }
}

extension Ring: Sendable where Element: Sendable {}
