import Testing

@testable import Attache

@Suite struct FairQueueTests {
  private var queue = FairQueue<String>(turn: 10)

  private mutating func order() -> [String] {
    var order: [String] = []
    while let next = queue.popFirst() { order.append(next.element) }
    return order
  }

  @Test mutating func `one payload's elements leave in the order of their deadlines, then as they came`() {
    for (name, deadline) in [("late", 9), ("first", 5), ("second", 5)] {
      queue.add(name, work: 1, of: [1], by: .at(deadline))
    }
    #expect(order() == ["first", "second", "late"])
  }

  @Test mutating func `a payload with much work waits for those with little, whenever they come`() {
    for number in 0..<10 { queue.add("large \(number)", work: 100, of: [1], by: .at(1)) }
    queue.add("small", work: 1, of: [2], by: .at(9))
    #expect(queue.first() == "small")
    #expect(queue.popFirst()?.element == "small")
    #expect(queue.popFirst()?.element == "large 0")
    queue.add("small 2", work: 5, of: [3], by: .at(9))
    #expect(queue.popFirst()?.element == "small 2")
    #expect(queue.popFirst()?.payload == 1)
  }

  @Test mutating func `payloads with the same work take turns`() {
    for number in 0..<3 { for payload in 1...2 { queue.add("\(payload).\(number)", work: 10, of: [UInt64(payload)], by: .at(payload)) } }
    #expect(order() == ["1.0", "2.0", "1.1", "2.1", "1.2", "2.2"])
  }

  @Test mutating func `it is known what comes before a payload that begins now`() {
    let names = { (queue: FairQueue<String>) in queue.inOrder.filter(\.isDue).map(\.element) }
    for number in 0..<3 { queue.add("large \(number)", work: 100, of: [1], by: .at(1)) }
    for number in 0..<3 { queue.add("small \(number)", work: 6, of: [2], by: .at(2)) }
    #expect(queue.inOrder.map(\.element) == ["small 0", "small 1", "small 2", "large 0", "large 1", "large 2"])
    // One large picture, and less than two turns of small ones.
    #expect(names(queue) == ["small 0", "small 1", "small 2", "large 0"])
    for _ in 0..<4 { _ = queue.popFirst() }
    #expect(names(queue) == ["large 1"], "its payload is alone")
    for payload in 2...9 as ClosedRange<UInt64> { queue.add("other", work: 100, of: [payload], by: .at(1)) }
    _ = queue.popFirst()
    #expect(names(queue).allSatisfy { $0 == "other" }, "its payload had a turn")
  }

  @Test mutating func `large work gets its share while small work keeps coming`() {
    queue.add("large", work: 100, of: [1], by: .at(1))
    var before = 0
    while true {
      queue.add("small", work: 10, of: [UInt64(2 + before)], by: .at(1))
      guard queue.popFirst()?.element == "small" else { break }
      before += 1
    }
    // Two payloads wait at a time, so the other gets as much.
    #expect((8...22).contains(before), "\(before)")
  }

  @Test mutating func `work beyond what was announced is charged to what the payload has waiting`() {
    for number in 0..<3 { queue.add("liar \(number)", work: 1, of: [1], by: .at(1)) }
    queue.add("normal", work: 5, of: [2], by: .at(9))
    #expect(queue.popFirst()?.element == "liar 0")
    queue.charge(1, 500)
    #expect(order() == ["normal", "liar 1", "liar 2"])
  }

  @Test mutating func `an element that several payloads wait for takes the earliest of their turns`() {
    queue.add("own", work: 500, of: [1], by: .at(1))
    let shared = queue.add("shared", work: 10, of: [1], by: .at(1))
    queue.add("other", work: 50, of: [3], by: .at(1))
    #expect(queue.first() == "other")
    queue.join(shared, 2)
    #expect(queue.first() == "shared")
    queue.join(shared, 1)
    queue.add("for both", work: 20, of: [1, 9], by: .at(1))
    #expect(queue.popFirst()?.payload == 2)
    #expect(queue.popFirst()?.payload == 9)
    #expect(order() == ["other", "own"])
  }

  @Test mutating func `what is removed does not come, and the queue ends empty`() {
    let numbers = (0..<1_000).map { queue.add("\($0)", work: 1, of: [UInt64($0 % 7)], by: .at($0)) }
    for number in numbers where number % 2 == 0 { #expect(queue.remove(number) != nil) }
    #expect(queue.remove(numbers[1]) == nil)
    #expect(queue.count == 500)
    #expect(order().count == 500)
    #expect(queue.isEmpty && queue.first() == nil)
  }

  @Test mutating func `the largest numbers do not overflow`() {
    for payload in 0..<100 as Range<UInt64> {
      queue.add("", work: .max, of: [payload % 3], by: .distantFuture)
      queue.charge(payload % 3, .max)
    }
    #expect(order().count == 100)
  }
}

extension MonotonicInstant {
  fileprivate static func at(_ second: Int) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000) }
}
