import AttacheTesting
import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite struct FilterPropertyTests {
  private static func text(_ numbers: inout SeededGenerator) -> String {
    let lines = (0..<Int.random(in: 0..<400, using: &numbers)).map { number in
      let start = ["", "c", "c", "i", "x"][Int.random(in: 0..<5, using: &numbers)]
      let long =
        Int.random(in: 0..<50, using: &numbers) == 0 ? String(repeating: "l", count: Int.random(in: 900..<9000, using: &numbers)) : ""
      return "\(start)\(number)\(long)\(["\n", "\n", "\r\n"][Int.random(in: 0..<3, using: &numbers)])"
    }
    return lines.joined()
  }

  /// The output lines if every candidate is attached. It splits bytes, since `\r\n` is a single
  /// `Character`.
  private static func expected(_ text: String) -> [[UInt8]] {
    lines(text).map { line in
      line.first == UInt8(ascii: "c") && line.count <= 1000 ? [line[0], UInt8(ascii: "+")] + line.dropFirst() : line
    }
  }

  private static func lines(_ text: String) -> [[UInt8]] {
    text.utf8.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
  }

  @Test(arguments: 0..<60) func `one line in, one line out, whoever decides and when`(seed: UInt64) throws {
    var numbers = SeededGenerator(seed: seed)
    let isOrdered = seed % 3 != 0
    let text = Self.text(&numbers) + ["", "c", "end"][Int(seed / 3 % 3)]
    let limits = WindowLimits(
      jobs: Int.random(in: 1...8, using: &numbers), windowBytes: Int.random(in: 1...20_000, using: &numbers), isOrdered: isOrdered)
    let (filter, pending) = (try ScriptedFilter(limits), PendingSlots())
    let isOver = Mutex(false)
    let deciders = try (0..<2).map { decider in
      let start = SeededGenerator(seed: seed + 1000 * UInt64(decider))
      return try Thread.start("decider") { [filter] in
        var numbers = start
        while true {
          if let ticket = pending.takeSome(Int.random(in: 0..<64, using: &numbers)) {
            filter.window.decide(ticket, .attached)
            filter.window.decide(ticket, .original)
          } else if isOver.withLock({ $0 }) {
            return
          }
          sched_yield()
        }
      }
    }
    let output = try filter.run(text, decide: pending.add, end: { isOver.withLock { $0 = true } })
    for decider in deciders { decider.join() }
    let (lines, expected) = (Self.lines(output), Self.expected(text))
    let isRight = isOrdered ? lines == expected : lines.sorted(by: <) == expected.sorted(by: <)
    #expect(isRight, "\(lines.count) lines for \(expected.count)")
  }
}

private func < (left: [UInt8], right: [UInt8]) -> Bool {
  left.lexicographicallyPrecedes(right)
}
