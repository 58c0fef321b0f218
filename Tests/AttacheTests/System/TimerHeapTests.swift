import Testing

@testable import Attache

@Suite struct TimerHeapTests {
  private func instant(_ nanoseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: nanoseconds)
  }

  @Test func `what is due comes out in order of time, and nothing else`() {
    var heap = TimerHeap()
    for nanoseconds: Int64 in [5, 1, 4, 2, 3, 9] { _ = heap.add(at: instant(nanoseconds)) {} }
    var earliest: [Int64] = []
    while let next = heap.earliest, heap.popDue(at: instant(5)) != nil { earliest.append(next.nanoseconds) }
    #expect(earliest == [1, 2, 3, 4, 5])
    #expect(heap.earliest == instant(9))
  }

  @Test func `a removed appointment leaves the others in order`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var heap = TimerHeap()
      var entries = (0..<200).map { _ in
        let when = Int64.random(in: 0..<100, using: &generator)
        return (when, heap.add(at: instant(when)) {})
      }
      entries.shuffle(using: &generator)
      for (_, entry) in entries.prefix(120) { heap.remove(entry) }
      for (_, entry) in entries.prefix(10) { heap.remove(entry) }
      let expected = entries.dropFirst(120).map(\.0).sorted()
      var seen: [Int64] = []
      while let next = heap.earliest, heap.popDue(at: .distantFuture) != nil { seen.append(next.nanoseconds) }
      #expect(seen == expected)
    }
  }
}
