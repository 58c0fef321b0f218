import Testing

@testable import Attache

@Suite struct GrowingPauseTests {
  @Test func `each failure doubles the pause up to the longest, until a success`() {
    var pause = GrowingPause(first: .milliseconds(16), longest: .milliseconds(50), free: 3)
    let pauses = (0..<8).map { _ in pause.next() }
    #expect(pauses == [0, 0, 0, 16, 32, 50, 50, 50].map { .milliseconds($0) })
    #expect(pause.length == pauses.last)
    pause.reset()
    #expect(pause.length == .zero)
  }

  @Test func `a pause without an end of failures stays the longest`() {
    var pause = GrowingPause(first: .milliseconds(10), longest: .seconds(1))
    #expect((0..<100).map { _ in pause.next() }.suffix(92).allSatisfy { $0 == .seconds(1) })
  }
}
