import Glibc
import Synchronization

@testable import Attache

/// Reader, window, writer and report on their own threads, with a script instead of parser and
/// host: a line that starts with "c" is a candidate, one that starts with "i" is invalid, and all
/// others have nothing to attach.
final class ScriptedFilter: Sendable {
  let input: Pipe
  let output: Pipe
  let window: OutputWindow
  let stop: ReadingStop
  private let maximumLine: Int
  private let report: ReportWriter?
  private let threads: Mutex<[Thread]> = Mutex([])
  private let total = Mutex(Summary())
  private let failure = Mutex<SystemError?>(nil)

  /// - Parameter report: the descriptor of the report, if any. It is closed at the end.
  init(_ limits: WindowLimits = WindowLimits(), output: Pipe? = nil, report: Int32? = nil, maximumLine: Int = 1000) throws {
    input = try Pipe()
    self.output = try output ?? Pipe()
    let window = try OutputWindow(limits: limits, clock: StandingClock())
    self.window = window
    stop = try ReadingStop()
    self.maximumLine = maximumLine
    self.report = try report.map { descriptor throws(SystemError) in
      try ReportWriter(
        descriptor: descriptor, machine: SystemMachine(), showing: .short, written: { window.holdForReport(-$0) }, failed: { _ in })
    }
  }

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - descriptor: the output; nil for the pipe, which is closed at the end.
  ///   - decide: called on the reader's thread with every candidate in the window. It chooses who
  ///     decides it, and when.
  ///   - end: called on the reader's thread when the input has ended.
  func start(
    writingTo descriptor: Int32? = nil, decide: @escaping @Sendable (WindowTicket) -> Void = { _ in },
    end: @escaping @Sendable () -> Void = {}
  ) throws {
    let reader = try Thread.start("reader") { [self] in
      read(decide)
      end()
    }
    let writer = try Thread.start("writer") { [self] in
      write(to: descriptor ?? output.output)
      report?.finish()
      if descriptor == nil { output.closeOutput() }
    }
    let reporter = try report.map { report throws(SystemError) in try Thread.start("report") { report.run() } }
    threads.withLock { $0 = [reader, writer] + (reporter.map { [$0] } ?? []) }
  }

  /// Waits until every thread has ended.
  ///
  /// - Returns: the counts of reader and writer, and the writer's error.
  @discardableResult
  func join() -> (summary: Summary, failure: SystemError?) {
    for thread in threads.withLock({ $0 }) { thread.join() }
    return (total.withLock { $0 }, failure.withLock { $0 })
  }

  /// Waits until the reader waits for space or a job.
  func waitUntilReaderWaits() {
    while window.book.read({ $0.readerNeed == nil }) { sched_yield() }
  }

  /// The output for an input whose candidates `decide` decides, after everything has ended.
  func run(_ text: String, decide: @escaping @Sendable (WindowTicket) -> Void, end: @escaping @Sendable () -> Void = {}) throws -> String {
    try start(decide: decide, end: end)
    let feeder = try Thread.start("feeder") { [input] in
      input.write(text.utf8)
      input.closeOutput()
    }
    let bytes = output.readAll()
    feeder.join()
    join()
    return String(decoding: bytes, as: UTF8.self)
  }

  private func read(_ decide: (WindowTicket) -> Void) {
    let reader = LineReader(descriptor: input.input, stop: stop, padding: 64, blockSize: 4096, maximumLine: maximumLine)
    var inlet = WindowInput(window: window)
    loop: while let next = try? reader.next() {
      switch next {
      case .line(let line), .unfinished(let line):
        switch line.array.first {
        case UInt8(ascii: "c"): if let ticket = inlet.reserve(line) { decide(ticket) }
        case UInt8(ascii: "i"): inlet.pass(line, for: .payloadJSON)
        default: inlet.pass(line, for: .payloadNoAlert)
        }
      case .overlong(let piece, let isLast): inlet.passOverlong(piece, isLast: isLast)
      case .pause: inlet.flush()
      case .end, .stopped: break loop
      }
    }
    inlet.finish()
    let summary = inlet.summary
    total.withLock { $0.merge(summary) }
  }

  private func write(to descriptor: Int32) {
    let writer = LineWriter(descriptor: descriptor, window: window, clock: StandingClock(), report: report, brokenPipe: {})
    do throws(SystemError) {
      try writer.run()
    } catch {
      failure.withLock { $0 = error }
    }
    let summary = writer.summary
    total.withLock { $0.merge(summary) }
  }
}

extension OutputWindow {
  /// The number of undecided payloads, and the number of decided bytes that are not written.
  var load: (undecided: Int, heldBytes: Int) {
    book.read { ($0.state.undecidedCount, $0.state.heldBytes) }
  }
}

/// A clock that does not advance.
final class StandingClock: DeadlineClock {
  let now = MonotonicInstant(nanoseconds: 1_000_000_000)

  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> Appointment {
    preconditionFailure("nothing is booked")
  }

  func cancel(_ appointment: Appointment) {}
}

/// Slots that wait for a decision.
final class PendingSlots: Sendable {
  private let slots = Mutex<[WindowTicket]>([])

  var count: Int { slots.withLock { $0.count } }

  func add(_ ticket: WindowTicket) {
    slots.withLock { $0.append(ticket) }
  }

  /// Removes the ticket at a position.
  func take(_ position: Int) -> WindowTicket {
    slots.withLock { $0.remove(at: position) }
  }

  /// Removes a ticket that `choice` determines, if there is one.
  func takeSome(_ choice: Int) -> WindowTicket? {
    slots.withLock { $0.isEmpty ? nil : $0.remove(at: choice % $0.count) }
  }

  func wait(for count: Int) {
    while self.count < count { sched_yield() }
  }
}

extension Decision {
  static let original = Decision(form: .original, outcome: .fallback, reason: .deadline)
  /// Inserts "+" before the line's second byte.
  static let attached = Decision(form: .spliced(member: [UInt8(ascii: "+")], at: 1), outcome: .attached)
}
