internal import Glibc
internal import Synchronization

/// The filter: reads payloads from one descriptor and writes them with their media to another.
///
/// A line passes through these steps, each of which is a call in this file: `LineReader` splits the
/// input, `PayloadReader` parses the line, `WindowInput` reserves its entry, `PayloadProcessor`
/// serves it with the extension and decides, `OutputWindow` takes the decision, and `LineWriter`
/// writes.
public final class Filter: Sendable {
  /// The result of a run.
  public struct Result: Sendable {
    /// The number of lines by outcome, and the bytes read and written.
    public var summary: Summary
    /// The duration of the run.
    public var elapsed: Duration
    /// Whether the input was read to its end and no payload was cancelled; false after
    /// ``Filter/stop()`` before the end of the input.
    public var isComplete: Bool
    /// Why the report is incomplete; nil if it is complete.
    public var reportFailure: SystemError?
  }

  private let configuration: FilterConfiguration
  private let processor: PayloadProcessor
  private let clock: MonotonicClock
  private let machine: any Machine
  private let window: OutputWindow
  private let reading: ReadingStop
  private let explainer: Explainer
  private let warn: @Sendable (String) -> Void
  private let observe: (@Sendable (Decision, Duration) -> Void)?
  private let counters = Counters()

  /// Creates a filter.
  ///
  /// - Parameters:
  ///   - configuration: the settings.
  ///   - host: serves the candidates.
  ///   - store: the store of the attachments. They are unpinned when their line is written.
  ///   - clock: the host's clock.
  ///   - explain: called for the first line that is not attached for each reason and detail, and then
  ///     once an hour, except for ordinary reasons.
  ///   - warn: receives the message that the report cannot be written anymore.
  /// - Throws: ``FilterFailure/start(_:)`` if the system provides no file descriptor or no thread.
  public convenience init(
    _ configuration: FilterConfiguration, host: ServiceExtensionHost, store: AttachmentStore, clock: MonotonicClock,
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }, warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(FilterFailure) {
    try self.init(configuration, host: host, store: store, clock: clock, places: nil, observe: nil, explain: explain, warn: warn)
  }

  /// Creates a filter that also limits the undecided payloads to what the converters finish in time.
  ///
  /// - Parameter places: returns how many payloads may be undecided at the moment; it must not wait.
  ///   With nil, only ``FilterConfiguration/jobs`` limits them.
  /// - Parameter observe: called with each decision about a candidate and the time that it took, on the
  ///   thread that decides; nil for nothing. It must not wait.
  init(
    _ configuration: FilterConfiguration, host: ServiceExtensionHost, store: AttachmentStore, clock: MonotonicClock,
    places: (@Sendable () -> Int)?, observe: (@Sendable (Decision, Duration) -> Void)?, explain: @escaping @Sendable (Explanation) -> Void,
    warn: @escaping @Sendable (String) -> Void
  ) throws(FilterFailure) {
    (self.configuration, self.observe) = (configuration, observe)
    self.warn = warn
    self.clock = clock
    machine = clock.machine
    processor = PayloadProcessor(configuration, host: host, store: store)
    do {
      window = try OutputWindow(limits: WindowLimits(configuration), clock: clock, machine: machine, places: places)
      reading = try ReadingStop(machine: machine)
      explainer = try Explainer(machine: machine, showing: configuration.urlDetail, notify: explain)
    } catch {
      throw .start(error)
    }
  }

  /// Reads until the input ends or ``stop()`` is called, and returns when every line is written.
  /// The calling thread reads.
  ///
  /// - Parameters:
  ///   - input: the file descriptor to read.
  ///   - output: the file descriptor to write.
  /// - Returns: the outcomes of the run.
  /// - Throws: ``FilterFailure`` if reading or writing fails, or if the report cannot be opened.
  public func run(input: Int32 = 0, output: Int32 = 1) throws(FilterFailure) -> Result {
    let start = machine.now
    let payloads: PayloadReader
    let key: ReportKey?
    do throws(SystemError) {
      payloads = try processor.makeReader()
      key = try configuration.report == nil ? nil : processor.makeReportKey()
    } catch {
      throw .start(error)
    }
    // Without an output, the reader need not continue, even if its input stays open.
    let report = configuration.report.map { (path: $0, detail: configuration.urlDetail) }
    let exit = try OutputSide(
      window: window, clock: clock, output: output, report: report,
      failed: { [reading, clock] in reading.request(finishingLineBy: clock.now) },
      reportFailed: { [explainer, warn] error in
        explainer.perform { warn("the report cannot be written, and ends here: \(error)") }
      })
    var inlet = WindowInput(window: window)
    let isReadToEnd: Bool
    do {
      isReadToEnd = try read(input, payloads, key, into: &inlet)
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
    return Result(
      summary: summary, elapsed: start.duration(to: machine.now),
      isComplete: isReadToEnd && summary.lines(.fallback, .cancelled) == 0, reportFailure: exit.reportFailure)
  }

  /// Lets the reader go on if there are more places by now. Any thread may call it.
  func lookForPlaces() {
    window.lookForPlaces()
  }

  /// Stops reading. A line that is half read may still be completed within a payload's budget;
  /// after that, its beginning is written unchanged. Payloads in progress are decided as usual. Any
  /// thread may call it.
  public func stop() {
    window.stop()
    reading.request(finishingLineBy: clock.now.advanced(by: configuration.deadline))
  }

  /// Stops reading, and immediately decides payloads in progress with the original. Any thread may
  /// call it.
  public func cancel() {
    window.stop()
    reading.request(finishingLineBy: clock.now)
    processor.host.cancelAll()
  }

  /// The progress of the run. Any thread may read it.
  public var progress: Progress {
    counters.progress
  }

  // MARK: The road

  /// - Returns: whether the input ended.
  private func read(
    _ input: Int32, _ payloads: PayloadReader, _ key: ReportKey?, into inlet: inout WindowInput
  ) throws(SystemError) -> Bool {
    let lines = LineReader(descriptor: input, stop: reading, padding: PayloadReader.padding)
    while true {
      switch try lines.next() {
      case .line(let line), .unfinished(let line): take(line, payloads, LineNote(key: key?.value(of: line)), &inlet)
      case .overlong(let piece, let isLast):
        let note = LineNote(key: key.map { _ in ReportKey.none })
        if inlet.passOverlong(piece, isLast: isLast, note) { explainer.add(.payloadSize, of: inlet.lines) }
      case .pause:
        inlet.flush()
        counters.note(lines: inlet.lines)
      case .end: return true
      case .stopped: return false
      }
    }
  }

  private func take(_ line: Segment, _ payloads: PayloadReader, _ note: LineNote, _ inlet: inout WindowInput) {
    switch unsafe line.withUnsafeBytes({ unsafe payloads.read($0) }) {
    case .invalid(let reason):
      let mistake = unsafe line.withUnsafeBytes { unsafe JSONMistake(of: $0) }
      pass(line, for: reason, LineNote(cause: .json(mistake), key: note.key), &inlet)
    case .passthrough(_, let reason, nil): pass(line, for: reason, note, &inlet)
    case .passthrough(_, let reason, let cause): pass(line, for: reason, LineNote(cause: cause, key: note.key), &inlet)
    case .unopened(let envelope): pass(line, for: .payloadEnvelope, LineNote(cause: .envelope(envelope), key: note.key), &inlet)
    case .candidates(let payloads):
      // Due timers take precedence over new payloads, whose deadline is set after this wait.
      let since = clock.waitForOverdueTimers()
      guard let ticket = inlet.reserve(line, jobs: payloads.count, since: since, note) else { return }
      serve(payloads, in: ticket, key: note.key)
    }
  }

  private func pass(_ line: Segment, for reason: Reason, _ note: LineNote, _ inlet: inout WindowInput) {
    let isFirst = inlet.pass(line, for: reason, note)
    // Only ordinary reasons are told once, and most lines have one.
    guard isFirst || note.cause != nil || reason == .payloadEnriched || reason == .payloadSize else { return }
    explainer.add(reason, of: inlet.lines, [], note.cause)
  }

  private func serve(_ payloads: [Payload], in ticket: WindowTicket, key: [UInt8]?) {
    let begun = observe == nil ? nil : machine.now
    processor.serve(payloads, of: ticket.bytes, identifier: "\(ticket.line)", deadline: ticket.deadline) { [self] decided in
      var decision = decided
      decision.key = key
      counters.note(decision.outcome)
      if let begun { observe?(decision, begun.duration(to: machine.now)) }
      // Add it before the decision, because the run may end as soon as the last line is written.
      if let reason = decision.reason ?? decision.media.missing(from: decision.outcome) {
        explainer.add(reason, of: ticket.line, decision.media, decision.reason == nil ? nil : decision.cause)
        for medium in decision.media {
          if let other = medium.reason, other != reason { explainer.add(other, of: ticket.line, [medium]) }
        }
      }
      // A message of a list may get nothing although others of the list do.
      if decision.outcome != .passthrough, let unread = payloads.lazy.compactMap(\.unread).first {
        explainer.add(.payloadUnreadMedia, of: ticket.line, [], .unread(unread))
      }
      if decision.outcome != .passthrough, let unopened = payloads.first?.unopened {
        explainer.add(.payloadEnvelope, of: ticket.line, [], .envelope(unopened))
      }
      window.decide(ticket, decision)
    }
  }
}

extension WindowLimits {
  fileprivate init(_ configuration: FilterConfiguration) {
    self.init(
      jobs: configuration.jobs, windowBytes: configuration.windowBytes, isOrdered: configuration.isOrdered, budget: configuration.deadline,
      isReporting: configuration.report != nil)
  }
}

/// The progress of a filter.
public struct Progress: Hashable, Sendable {
  /// The number of lines read.
  public var lines: Int
  /// The number of decided lines with attachments.
  public var attached: Int
  /// The number of decided lines that fell back to the original.
  public var fallback: Int
}

/// Counters for a progress line, updated by the threads that decide.
final class Counters: Sendable {
  private let lines = Atomic<Int>(0)
  private let attached = Atomic<Int>(0)
  private let fallback = Atomic<Int>(0)

  func note(lines count: Int) {
    lines.store(count, ordering: .relaxed)
  }

  func note(_ outcome: Outcome) {
    switch outcome {
    case .attached: attached.wrappingAdd(1, ordering: .relaxed)
    case .fallback: fallback.wrappingAdd(1, ordering: .relaxed)
    case .passthrough, .invalid: break
    }
  }

  var progress: Progress {
    Progress(
      lines: lines.load(ordering: .relaxed), attached: attached.load(ordering: .relaxed), fallback: fallback.load(ordering: .relaxed))
  }
}
