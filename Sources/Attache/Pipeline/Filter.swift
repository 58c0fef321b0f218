internal import Glibc
internal import Synchronization

/// The filter: payloads in on one descriptor, payloads with their media out on another.
///
/// The road of a line, each step a call in this file: `LineReader` splits, `PayloadReader` looks,
/// `WindowInput` gives it its place, `PayloadProcessor` has the extension serve it and decides,
/// `OutputWindow` takes the decision, `LineWriter` writes.
public final class Filter: Sendable {
  /// What a filter does with the payloads that it reads.
  public struct Configuration: Sendable {
    /// The budget of a payload, from the moment it takes its place in the window.
    public var deadline: Duration = .seconds(30)
    /// Payloads undecided at a time; reading stops when they are all taken.
    public var jobs = 256
    /// Decided lines that may wait for an earlier one, in bytes; reading stops when it is full.
    public var windowBytes = 8_000_000
    /// Whether lines leave in the order in which they came.
    public var isOrdered = true
    /// The member that an attached payload gains.
    public var outputKey = "attache"
    /// Where the payload stands in the line; nil is the whole line.
    public var payloadPath: JSONPointer?
    /// Where media are looked for.
    public var dialects = DialectTable()
    /// Whether an attached payload's alert gets the texts that the vendor's own helper would give
    /// it.
    public var appliesOverrides = false
    /// The public address of the store; nil writes file URLs.
    public var baseURL: String?
    /// The largest enriched payload, in bytes; nil for no bound. APNs takes 4,096.
    public var maximumPayload: Int?
    /// The file for outcome records, emptied at the start.
    public var report: String?
    /// How much of a URL the report and the explanations show.
    public var urlDetail = URLDetail.short

    public init() {}
  }

  /// How a run ended.
  public struct Result: Sendable {
    public var summary: Summary
    public var elapsed: Duration
    /// Whether the input was read to its end; false after ``Filter/stop()``.
    public var isComplete: Bool
    /// Why the report is not whole, if it is not.
    public var reportFailure: SystemError?
  }

  /// What ends a run early.
  public enum Failure: Error, Sendable, CustomStringConvertible {
    case input(SystemError), output(SystemError), report(path: String, SystemError), start(SystemError)

    public var description: String {
      switch self {
      case .input(let error): "standard input: \(error)"
      case .output(let error): "standard output: \(error)"
      case .report(let path, let error): "the report \(path): \(error)"
      case .start(let error): "the system refuses: \(error)"
      }
    }
  }

  private let configuration: Configuration
  private let processor: PayloadProcessor
  private let clock: any DeadlineClock
  private let machine: any Machine
  private let window: OutputWindow
  private let reading: ReadingStop
  private let explainer: Explainer
  private let counters = Counters()

  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: where the attachments are; they are unpinned when their line is written.
  ///   - clock: the host's clock.
  ///   - explain: told about the first payload that falls back, or brings the output member itself,
  ///     for each reason, and then once an hour.
  public init(
    _ configuration: Configuration, host: ServiceExtensionHost, store: AttachmentStore, clock: any DeadlineClock,
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }
  ) throws(Failure) {
    self.configuration = configuration
    self.clock = clock
    machine = clock.machineBehind
    processor = PayloadProcessor(configuration, host: host, store: store)
    do {
      window = try OutputWindow(limits: WindowLimits(configuration), clock: clock)
      reading = try ReadingStop(machine: machine)
      explainer = try Explainer(machine: machine, showing: configuration.urlDetail, notify: explain)
    } catch {
      throw .start(error)
    }
  }

  /// Reads until the input ends or ``stop()``, and returns when every line is written. The calling
  /// thread reads.
  public func run(input: Int32 = 0, output: Int32 = 1) throws(Failure) -> Result {
    let start = machine.now
    let payloads: PayloadReader
    do throws(SystemError) { payloads = try processor.makeReader() } catch { throw .start(error) }
    // Without an output the reader has nothing to read for, however long its input stays open.
    let report = configuration.report.map { (path: $0, detail: configuration.urlDetail) }
    let exit = try OutputSide(window: window, clock: clock, output: output, report: report) { [reading, clock] in
      reading.request(finishingLineBy: clock.now)
    }
    var inlet = WindowInput(window: window)
    let isComplete: Bool
    do {
      isComplete = try read(input, payloads, into: &inlet)
    } catch {
      inlet.finish()
      _ = try exit.join()
      throw .input(error)
    }
    inlet.finish()
    var summary = try exit.join()
    explainer.finish()
    summary.merge(inlet.summary)
    summary.droppedOffers += processor.host.droppedOffers
    return Result(summary: summary, elapsed: start.duration(to: machine.now), isComplete: isComplete, reportFailure: exit.reportFailure)
  }

  /// Stops reading, once a line that is half read has come to its end, for which it has the budget
  /// of a payload; then its beginning leaves as it came. What is in flight is decided as ever. Safe
  /// from any thread.
  public func stop() {
    window.stop()
    reading.request(finishingLineBy: clock.now.advanced(by: configuration.deadline))
  }

  /// Stops reading, and decides what is in flight for the original at once. Safe from any thread.
  public func cancel() {
    window.stop()
    reading.request(finishingLineBy: clock.now)
    processor.host.cancelAll()
  }

  /// How far the run is. Safe from any thread.
  public var progress: Progress {
    counters.progress
  }

  // MARK: The road

  /// - Returns: whether the input ended.
  private func read(_ input: Int32, _ payloads: PayloadReader, into inlet: inout WindowInput) throws(SystemError) -> Bool {
    let lines = LineReader(descriptor: input, stop: reading, padding: PayloadReader.padding)
    while true {
      switch try lines.next() {
      case .line(let line), .unfinished(let line): take(line, payloads, &inlet)
      case .overlong(let piece, let isLast): inlet.passOverlong(piece, isLast: isLast)
      case .pause:
        inlet.flush()
        counters.note(lines: inlet.lines)
      case .end: return true
      case .stopped: return false
      }
    }
  }

  private func take(_ line: Segment, _ payloads: PayloadReader, _ inlet: inout WindowInput) {
    switch unsafe line.withUnsafeBytes({ unsafe payloads.read($0) }) {
    case .invalid: inlet.pass(line, as: .invalid)
    case .passthrough(_, .payloadEnriched):
      inlet.pass(line, as: .enriched)
      explainer.add(.payloadEnriched, of: inlet.lines, [])
    case .passthrough(_, .payloadSize): inlet.pass(line, as: .overlong)
    case .passthrough: inlet.pass(line, as: .nothing)
    case .unopened(let envelope):
      inlet.pass(line, unopened: envelope)
      explainer.add(.payloadEnvelope, of: inlet.lines, [], why: envelope.why)
    case .candidates(let payloads):
      processor.waitUntilPunctual()
      guard let ticket = inlet.reserve(line, jobs: payloads.count) else { return }
      serve(payloads, in: ticket)
    }
  }

  private func serve(_ payloads: [Payload], in ticket: WindowTicket) {
    processor.serve(payloads, identifier: "\(ticket.line)", deadline: ticket.deadline) { [self] decision in
      counters.note(decision.outcome)
      // Before the last line can be written, with which the run ends.
      if let reason = decision.reason { explainer.add(reason, of: ticket.line, decision.media) }
      window.decide(ticket, decision)
    }
  }
}

extension WindowLimits {
  fileprivate init(_ configuration: Filter.Configuration) {
    self.init(
      jobs: configuration.jobs, windowBytes: configuration.windowBytes, isOrdered: configuration.isOrdered, budget: configuration.deadline,
      isReporting: configuration.report != nil)
  }
}
