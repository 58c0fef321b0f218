import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite struct LineWriterTests {
  /// A clock that a test sets.
  private final class HandClock: DeadlineClock {
    private let milliseconds = Mutex<Int64>(0)

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds.withLock { $0 } * 1_000_000) }

    func set(_ value: Int64) { milliseconds.withLock { $0 = value } }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment {
      preconditionFailure("nothing is booked")
    }

    func cancel(_ appointment: Appointment) {}
  }

  private static let text = String(repeating: String(repeating: "x", count: 999) + "\nc\n", count: 500)

  @Test func `short writes lose nothing, and a descriptor that does not block is waited for`() throws {
    let filter = try ScriptedFilter(output: try Pipe(isBlocking: false))
    let feeder = try Thread.start("feeder") { [input = filter.input] in
      input.write(Self.text.utf8)
      input.closeOutput()
    }
    try filter.start(decide: { [window = filter.window] in window.decide($0, .attached) })
    #expect(filter.output.readAll(chunk: 777) == Array(Self.text.replacing("c", with: "c+").utf8))
    feeder.join()
    #expect(filter.join().failure == nil)
  }

  @Test func `a splice may stand at either end of the line`() throws {
    for (place, expected) in [(0, "+c1\n"), (3, "c1\n+")] {
      let filter = try ScriptedFilter()
      let output = try filter.run(
        "c1\n",
        decide: { [window = filter.window] in window.decide($0, Decision(form: .spliced(member: [43], at: place), outcome: .attached)) })
      #expect(output == expected)
    }
  }

  @Test func `an output that is full gives the error of the system, and the reader runs to the end`() throws {
    let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let filter = try ScriptedFilter(WindowLimits(windowBytes: 1000))
    try filter.start(writingTo: full)
    filter.input.write(Self.text.utf8)
    filter.input.closeOutput()
    let end = filter.join()
    #expect(end.failure == SystemError(call: "writev", number: ENOSPC))
    #expect(end.summary.bytesRead == Self.text.utf8.count)
    #expect(filter.window.load.undecided == 0)
  }

  @Test func `a consumer that has gone is told apart from every other error`() throws {
    let pipe = try Pipe()
    let window = try OutputWindow(limits: WindowLimits(), clock: StandingClock())
    window.append(Segment("x\n"), for: .none)
    let hasEnded = Mutex(false)
    pipe.closeInput()
    let error = Mutex<SystemError?>(nil)
    try Thread.start("writer") {
      let writer = LineWriter(
        descriptor: pipe.output, window: window, clock: StandingClock(), brokenPipe: { hasEnded.withLock { $0 = true } })
      do throws(SystemError) { try writer.run() } catch let failure { error.withLock { $0 = failure } }
    }.join()
    #expect(error.withLock { $0 } == SystemError(call: "writev", number: EPIPE))
    #expect(hasEnded.withLock { $0 })
  }

  @Test func `a process whose consumer has gone ends by SIGPIPE, even when it was ignored`() async {
    await #expect(processExitsWith: .signal(SIGPIPE)) {
      signal(SIGPIPE, SIG_IGN)
      try Thread.start("writer") { BrokenPipe.endProcess() }.join()
    }
  }

  @Test func `a line is late when it is handed over after its deadline`() throws {
    let (clock, output) = (HandClock(), try Pipe())
    let window = try OutputWindow(limits: WindowLimits(budget: .milliseconds(100)), clock: clock)
    let slots = [1, 2].compactMap { window.reserve(line: $0, bytes: Segment("c\n")) }
    try #require(slots.count == 2)
    window.append(Segment("x\nx\n"), for: .passing(first: 3, count: 2, reasons: []))
    clock.set(60)
    window.decide(slots[1], .original)
    clock.set(101)
    window.decide(slots[0], .original)
    window.finish()
    let writer = LineWriter(descriptor: output.output, window: window, clock: clock)
    try writer.run()
    #expect(writer.summary.lateLines == 4)
    #expect(writer.summary.lines(.fallback, .deadline) == 2)
    #expect(writer.summary.bytesWritten == 8)
  }

  @Test func `a line that waits only because the consumer does not read is not late`() throws {
    let (clock, pipe) = (HandClock(), try Pipe())
    let window = try OutputWindow(limits: WindowLimits(budget: .milliseconds(100)), clock: clock)
    let writer = try Thread.start("writer") {
      let writer = LineWriter(descriptor: pipe.output, window: window, clock: clock)
      try? writer.run()
      pipe.closeOutput()
      #expect(writer.summary.lines == 2)
      #expect(writer.summary.lateLines == 0)
    }
    let slots = [1, 2].compactMap { window.reserve(line: $0, bytes: Segment("c\n")) }
    try #require(slots.count == 2)
    window.decide(slots[0], Decision(form: .spliced(member: Array(repeating: 43, count: 1 << 20), at: 1), outcome: .attached))
    pipe.waitUntilReadable()
    // The writer is inside `write`, where the consumer blocks it.
    clock.set(90)
    window.decide(slots[1], .original)
    clock.set(500)
    window.finish()
    #expect(pipe.readAll().count == (1 << 20) + 4)
    writer.join()
  }

  @Test(arguments: ["/dev/null", "/dev/full"]) func `what a line holds is let go of once, whether it is written or not`(path: String) throws
  {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let gone = Mutex<[Int]>([])
    let window = try OutputWindow(limits: WindowLimits(jobs: 1000), clock: StandingClock())
    let slots = (1...WindowState.maximumPlaces + 2).compactMap { window.reserve(line: $0, bytes: Segment("c\n")) }
    func decide(_ ticket: WindowTicket, as number: Int) {
      let number = number
      window.decide(ticket, Decision(form: .original, outcome: .attached, onRelease: { gone.withLock { $0.append(number) } }))
    }
    for ticket in slots.dropLast() { decide(ticket, as: ticket.line) }
    decide(slots[0], as: 0)
    #expect(gone.withLock { $0 } == [0])
    let writer = LineWriter(descriptor: descriptor, window: window, clock: StandingClock())
    if path == "/dev/full" {
      #expect(throws: SystemError.self) { try writer.run() }
      for ticket in slots.suffix(1) { decide(ticket, as: ticket.line) }
    } else {
      for ticket in slots.suffix(1) { decide(ticket, as: ticket.line) }
      window.finish()
      try writer.run()
    }
    #expect(gone.withLock { $0.sorted() } == Array(0...slots.count))
  }

  /// Where a decided line goes, and how much of it.
  enum Place: CaseIterable {
    case pipe, fifo, fullPipe, fullFIFO, longLine
  }

  @Test(arguments: Place.allCases) func `the thread that decides writes a line that alone waits, if a pipe takes it at once`(_ place: Place)
    throws
  {
    let fifo = try Pipe()
    var ends: [Int32] = [fifo.input, fifo.output]
    if place == .pipe || place == .fullPipe { _ = try SystemError.check("pipe", unsafe pipe(&ends)) }
    let (input, output) = (ends[0], ends[1])
    let isFull = place == .fullPipe || place == .fullFIFO
    let filling = [UInt8](repeating: 46, count: isFull ? 1 << 16 : 0)
    if isFull { try WholeWrite.write(filling, to: output) }
    let window = try OutputWindow(limits: WindowLimits(), clock: StandingClock())
    let writer = LineWriter(descriptor: output, window: window, clock: StandingClock())
    let thread = try Thread.start("writer") { try? writer.run() }
    while window.book.read({ $0.direct == nil }) { sched_yield() }
    let ticket = try #require(window.reserve(line: 1, bytes: Segment("c\n")))
    let own = pthread_self()
    let other = Mutex<pthread_t?>(nil)
    let member = [UInt8](repeating: 43, count: place == .longLine ? Int(PIPE_BUF) - 1 : Int(PIPE_BUF) - 2)
    window.decide(
      ticket, Decision(form: .spliced(member: member, at: 1), outcome: .attached, onRelease: { other.withLock { $0 = pthread_self() } }))
    window.finish()
    let expected = filling + Array("c".utf8) + member + Array("\n".utf8)
    var bytes = [UInt8](repeating: 0, count: expected.count + 1)
    var count = 0
    while count < expected.count {
      count += unsafe bytes.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress! + count, $0.count - count) }
    }
    thread.join()
    #expect(bytes.prefix(count) == expected[...])
    #expect(other.withLock { $0 == own } == (place == .pipe || place == .fifo))
    #expect(writer.summary.bytesWritten == member.count + 2)
    #expect(writer.summary.lines == 1)
    #expect(window.load.heldBytes == 0)
    if input != fifo.input { for end in ends { close(end) } }
  }
}
