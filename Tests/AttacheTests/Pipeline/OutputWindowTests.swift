import AttacheTesting
import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite struct OutputWindowTests {
  @Test func `order is kept when the decisions come the other way round`() throws {
    let (filter, pending) = (try ScriptedFilter(), PendingSlots())
    let output = try filter.run(
      "c1\nx\r\nc2\n\nc3\ny", decide: pending.add,
      end: { [filter] in for position in [2, 1, 0] { filter.window.decide(pending.take(position), .attached) } })
    #expect(output == "c+1\nx\r\nc+2\n\nc+3\ny")
  }

  @Test func `unordered, lines leave in the order of the decisions`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(isOrdered: false)), PendingSlots())
    let output = try filter.run(
      "c1\nx\nc2\ni\nc3\n", decide: pending.add,
      end: { [filter] in for position in [1, 1, 0] { filter.window.decide(pending.take(position), .original) } })
    #expect(output == "x\ni\nc2\nc3\nc1\n")
  }

  @Test func `reading stops while the jobs are taken and goes on when one is decided`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(jobs: 2)), PendingSlots())
    try filter.start(decide: pending.add)
    filter.input.write("c1\nc2\nc3\n".utf8)
    filter.waitUntilReaderWaits()
    #expect(pending.count == 2)
    #expect(filter.window.load.undecided == 2)
    filter.window.decide(pending.take(1), .original)
    pending.wait(for: 2)
    filter.input.closeOutput()
    for _ in 0..<2 { filter.window.decide(pending.take(0), .original) }
    #expect(filter.output.readAll() == Array("c1\nc2\nc3\n".utf8))
    filter.join()
  }

  @Test(arguments: [true, false]) func `a line knows how long it waited for a place, if there is a report`(isReporting: Bool) throws {
    let clock = ManualClock()
    let window = try OutputWindow(limits: WindowLimits(jobs: 1, isReporting: isReporting), clock: clock)
    let first = try #require(window.reserve(line: 1, bytes: Segment("c\n")))
    #expect(first.waited == .zero)
    let second = Mutex<WindowTicket?>(nil)
    let reader = try Thread.start("reader") {
      let ticket = window.reserve(line: 2, bytes: Segment("c\n"))
      second.withLock { $0 = ticket }
    }
    while window.book.read({ $0.readerNeed == nil }) { sched_yield() }
    clock.advance(by: .seconds(3))
    window.decide(first, .original)
    reader.join()
    let ticket = try #require(second.withLock { $0 })
    #expect(ticket.waited == (isReporting ? .seconds(3) : .zero))
    #expect(ticket.placed == clock.now)
  }

  @Test func `reading goes on when there are more places although nothing was decided`() throws {
    let places = Mutex(1)
    let window = try OutputWindow(limits: WindowLimits(), clock: ManualClock()) { places.withLock(\.self) }
    let first = try #require(window.reserve(line: 1, bytes: Segment("c\n")))
    let second = Mutex<WindowTicket?>(nil)
    let reader = try Thread.start("reader") {
      let ticket = window.reserve(line: 2, bytes: Segment("c\n"))
      second.withLock { $0 = ticket }
    }
    while window.book.read({ $0.readerNeed == nil }) { sched_yield() }
    window.lookForPlaces()
    #expect(window.book.read { $0.readerNeed != nil })
    places.withLock { $0 = 2 }
    window.lookForPlaces()
    reader.join()
    #expect(second.withLock { $0 }?.line == 2)
    window.decide(first, .original)
  }

  @Test func `reading stops while the window is full behind one stalled line`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(windowBytes: 10_000)), PendingSlots())
    let text = "c1\n" + String(repeating: "x\n", count: 50_000)
    try filter.start(decide: pending.add)
    let feeder = try Thread.start("feeder") { [filter] in
      filter.input.write(text.utf8)
      filter.input.closeOutput()
    }
    filter.waitUntilReaderWaits()
    // At most one block more than the window: the block whose lines filled it.
    #expect((10_001...10_000 + 4096 + WindowEntry.overhead).contains(filter.window.load.heldBytes))
    filter.window.decide(pending.take(0), .original)
    #expect(filter.output.readAll() == Array(text.utf8))
    feeder.join()
    filter.join()
  }

  @Test func `a consumer that does not read stops the reader, and nothing is lost`() throws {
    let filter = try ScriptedFilter()
    let text = String(repeating: String(repeating: "x", count: 999) + "\n", count: 5000)
    try filter.start()
    let feeder = try Thread.start("feeder") { [filter] in
      filter.input.write(text.utf8)
      filter.input.closeOutput()
    }
    filter.waitUntilReaderWaits()
    #expect(filter.window.load.heldBytes <= (1 << 20) + 4096 + WindowEntry.overhead)
    #expect(filter.output.readAll() == Array(text.utf8))
    feeder.join()
    filter.join()
  }

  @Test func `a stop frees a reader that waits for a job, and the candidate leaves as it came`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(jobs: 1)), PendingSlots())
    try filter.start(decide: pending.add)
    filter.input.write("c1\nc2\nx\nc3\n".utf8)
    filter.waitUntilReaderWaits()
    filter.stop.request(finishingLineBy: .now)
    filter.window.stop()
    filter.window.decide(pending.take(0), .attached)
    #expect(filter.output.readAll() == Array("c+1\nc2\nx\nc3\n".utf8))
    let summary = filter.join().summary
    #expect(summary.lines(.fallback, .cancelled) == 2)
    #expect(summary.lines(.attached) == 1)
    #expect(summary.lines == 4)
  }

  @Test func `unordered, an overlong line lets every line before it be decided first`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(isOrdered: false), maximumLine: 10), PendingSlots())
    try filter.start(decide: pending.add)
    filter.input.write("c1\n12345678901".utf8)
    filter.waitUntilReaderWaits()
    filter.window.decide(pending.take(0), .original)
    filter.input.write("2\nx\n".utf8)
    filter.input.closeOutput()
    #expect(filter.output.readAll() == Array("c1\n123456789012\nx\n".utf8))
    #expect(filter.join().summary.lines(.passthrough, .payloadSize) == 1)
  }

  @Test func `an overlong line of 10 MiB leaves as it came, between its neighbours`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(windowBytes: 100_000)), PendingSlots())
    let text = "c1\n" + String(repeating: "z", count: 10 << 20) + "\r\nc2\n"
    let output = try filter.run(text) { [filter] ticket in
      pending.add(ticket)
      filter.window.decide(ticket, .attached)
    }
    #expect(output == "c+1\n" + text.dropFirst(3).dropLast(3) + "c+2\n")
  }

  @Test(arguments: ["x", "c2"]) func `unordered, a last line without an ending leaves last`(last: String) throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(isOrdered: false)), PendingSlots())
    try filter.start(decide: pending.add)
    filter.input.write("c1\n\(last)".utf8)
    filter.input.closeOutput()
    filter.waitUntilReaderWaits()
    filter.window.decide(pending.take(0), .original)
    if last == "c2" {
      pending.wait(for: 1)
      filter.window.decide(pending.take(0), .original)
    }
    #expect(filter.output.readAll() == Array("c1\n\(last)".utf8))
    filter.join()
  }

  @Test func `every line is handed over once, and late when there is no time at all`() throws {
    let (filter, pending) = (try ScriptedFilter(WindowLimits(budget: .seconds(-1))), PendingSlots())
    let text = String(repeating: "x\ni\n\nc\n", count: 5) + String(repeating: "\n", count: 20_000)
    let contents = try PipeContents(of: filter.output)
    try filter.start(
      decide: pending.add, end: { [window = filter.window] in for _ in 0..<5 { window.decide(pending.take(0), .original) } })
    filter.input.write(text.utf8)
    filter.input.closeOutput()
    let summary = filter.join().summary
    #expect(contents.wait() == Array(text.utf8))
    #expect(summary.lines == 20_020)
    #expect(summary.lateLines == 20_020)
    #expect(summary.bytesRead == summary.bytesWritten)
  }
}
