import AttacheTesting
import Testing

@testable import Attache

@Suite struct RingTests {
  @Test func `a ring is a queue, whatever its size and wherever its head`() {
    var numbers = SeededGenerator(seed: 1)
    var (ring, model, next) = (Ring<Int>(), [Int](), 0)
    for step in 0..<20_000 {
      // Grows in the first half, shrinks in the second.
      if Int.random(in: 0..<10, using: &numbers) < (step < 10_000 ? 6 : 4) {
        ring.append(next)
        model.append(next)
        next += 1
      } else {
        #expect(ring.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      guard let index = model.indices.randomElement(using: &numbers) else { continue }
      ring[index] += 1
      model[index] += 1
      #expect(ring[index] == model[index])
    }
    #expect(ring.count == model.count)
    while let element = ring.popFirst() { #expect(element == model.removeFirst()) }
    #expect(ring.isEmpty && model.isEmpty)
  }
}
