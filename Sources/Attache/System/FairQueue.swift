/// A queue in which payloads take turns, weighted by the work that they ask for. A pure value.
///
/// It is a fair queue on virtual time. Each payload has a time at which its work would be done if all
/// waiting payloads shared the processor equally. The element whose work would be done first is next.
/// Times are compared in whole turns, so that payloads with little work are equals. Among equals, the
/// earliest deadline is first.
///
/// An element may belong to several payloads that wait for the same work. Its turn is the first of
/// theirs.
struct FairQueue<Element> {
  private struct Flow {
    /// The virtual time at which the work that this payload has asked for is done.
    var end = 0
    /// The work that its elements took beyond what was announced.
    var surplus = 0
    var waiting = 0
  }

  private struct Entry {
    var element: Element
    var work: Int
    var payload: UInt64
    /// The virtual time at which it is done, and its payload's surplus when that was calculated.
    var end: Int
    var surplus: Int
    var deadline: MonotonicInstant
  }

  private struct Key: Comparable {
    var turn: Int
    var deadline: MonotonicInstant
    var number: Int

    static func < (a: Self, b: Self) -> Bool {
      (a.turn, a.deadline, a.number) < (b.turn, b.deadline, b.number)
    }
  }

  /// The work of one turn.
  private let turn: Int
  private var entries: [Int: Entry] = [:]
  /// The elements' keys, the next one last. A key may be outdated: its entry is gone or has another
  /// key by now.
  private var order: [Key] = []
  private var flows: [UInt64: Flow] = [:]
  /// The number of payloads that wait.
  private var waitingFlows = 0
  private var now = 0
  private var lastNumber = 0

  /// The largest work of an element, so that sums do not overflow.
  private static var maximumWork: Int { 1 << 40 }

  /// - Parameter turn: the work of one turn, above 0.
  init(turn: Int) {
    self.turn = turn
  }

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  /// Adds an element.
  ///
  /// - Parameters:
  ///   - work: how much the element asks for.
  ///   - payloads: those that wait for it.
  /// - Returns: its number, for ``remove(_:)`` and ``join(_:_:)``.
  @discardableResult
  mutating func add(_ element: Element, work: Int, of payloads: [UInt64], by deadline: MonotonicInstant) -> Int {
    lastNumber += 1
    let work = min(max(1, work), Self.maximumWork)
    let payload = payloads.min { end(of: $0) < end(of: $1) } ?? 0
    forgetFlows()
    var entry = Entry(element: element, work: work, payload: payload, end: 0, surplus: 0, deadline: deadline)
    enter(&entry)
    entries[lastNumber] = entry
    insert(key(lastNumber, entry))
    return lastNumber
  }

  /// Lets another payload wait for an element, which gets its turn if that is earlier.
  mutating func join(_ number: Int, _ payload: UInt64) {
    guard var entry = entries[number], entry.payload != payload, end(of: payload) + entry.work < time(of: entry) else { return }
    leave(entry)
    flows[entry.payload, default: Flow()].end -= entry.work
    entry.payload = payload
    enter(&entry)
    entries[number] = entry
    insert(key(number, entry))
  }

  /// The next element, which stays in the queue.
  mutating func first() -> Element? {
    nextNumber().flatMap { entries[$0]?.element }
  }

  /// Removes and returns the next element, and the payload whose turn it took.
  mutating func popFirst() -> (element: Element, payload: UInt64)? {
    guard let number = nextNumber(), let entry = entries[number] else { return nil }
    now += entry.work / max(1, waitingFlows)
    remove(number)
    return (entry.element, entry.payload)
  }

  @discardableResult
  mutating func remove(_ number: Int) -> Element? {
    guard let entry = entries.removeValue(forKey: number) else { return nil }
    leave(entry)
    if order.count > 2 * entries.count + 64 { order = entries.map { key($0.key, $0.value) }.sorted(by: >) }
    return entry.element
  }

  /// Removes and returns all elements.
  mutating func removeAll() -> [Element] {
    defer { (entries, order, flows, waitingFlows) = ([:], [], [:], 0) }
    return entries.sorted { $0.key < $1.key }.map(\.value.element)
  }

  /// The elements in the order of their turns, each with its number, and whether it comes before the
  /// same work, or less than a turn, of a payload that begins now.
  var inOrder: [(number: Int, element: Element, isDue: Bool)] {
    entries.map { (key: key($0.key, $0.value), entry: $0.value) }.sorted { $0.key < $1.key }.map { key, entry in
      (key.number, entry.element, key.turn <= (now + max(turn, entry.work)) / turn)
    }
  }

  /// Charges a payload for work beyond what was announced.
  mutating func charge(_ payload: UInt64, _ work: Int) {
    guard work > 0 else { return }
    let work = min(work, Self.maximumWork)
    var flow = flows[payload] ?? Flow()
    flow.end = max(now, flow.end) + work
    flow.surplus += work
    flows[payload] = flow
  }

  // MARK: Virtual time

  /// Returns the number of the next element. Corrects outdated keys before it.
  private mutating func nextNumber() -> Int? {
    while let last = order.last {
      guard let entry = entries[last.number] else {
        order.removeLast()
        continue
      }
      let current = key(last.number, entry)
      if current == last { return last.number }
      order.removeLast()
      // A smaller key was inserted when it became current.
      if current > last { insert(current) }
    }
    return nil
  }

  private func key(_ number: Int, _ entry: Entry) -> Key {
    Key(turn: time(of: entry) / turn, deadline: entry.deadline, number: number)
  }

  private func time(of entry: Entry) -> Int {
    entry.end + (flows[entry.payload]?.surplus ?? entry.surplus) - entry.surplus
  }

  private mutating func insert(_ key: Key) {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle] > key { low = middle + 1 } else { high = middle }
    }
    order.insert(key, at: low)
  }

  private func end(of payload: UInt64) -> Int {
    max(now, flows[payload]?.end ?? 0)
  }

  private mutating func enter(_ entry: inout Entry) {
    var flow = flows[entry.payload] ?? Flow()
    flow.end = max(now, flow.end) + entry.work
    if flow.waiting == 0 { waitingFlows += 1 }
    flow.waiting += 1
    (entry.end, entry.surplus) = (flow.end, flow.surplus)
    flows[entry.payload] = flow
  }

  private mutating func leave(_ entry: Entry) {
    guard var flow = flows[entry.payload] else { return }
    flow.waiting -= 1
    if flow.waiting == 0 { waitingFlows -= 1 }
    flows[entry.payload] = flow
  }

  /// Forgets the payloads that have no advantage or disadvantage any more.
  private mutating func forgetFlows() {
    guard flows.count > 2 * entries.count + 1_024 else { return }
    flows = flows.filter { $0.value.waiting > 0 || $0.value.end > now }
  }
}
