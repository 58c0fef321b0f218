package import Attache
internal import Glibc
internal import Synchronization

/// Writes a batch's lines, and its report, in the order of the file. A line is written as soon as
/// it and all lines before it have their results. One thread runs it.
final class BatchOutput: Sendable {
  /// Why the output ends.
  private enum Ending {
    /// Every payload has a result: the output ends with the last one.
    case complete
    /// No more results will follow.
    case stopped
  }

  private struct State {
    /// Whether the queue is known to contain this batch and nothing else.
    var isCleared: Bool
    var ending: Ending?
    var summary = Summary()
    var failure: BatchFailure?
  }

  private let queue: any ResultReading
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let state: Mutex<State>

  /// - Parameters:
  ///   - isCleared: whether lines may be written before ``clear()``.
  ///   - wakeSignal: rung when there may be something to write.
  init(_ queue: any ResultReading, isCleared: Bool, wakeSignal: any WakeSignal, machine: any Machine) {
    self.queue = queue
    self.machine = machine
    self.wakeSignal = wakeSignal
    state = Mutex(State(isCleared: isCleared))
  }

  /// Records that the queue contains this batch and nothing else, so that its results may be
  /// written.
  func clear() { change { $0.isCleared = true } }

  /// Records that every payload has its result.
  func complete() { change { $0.ending = $0.ending ?? .complete } }

  /// Records that no more results will follow. Results without a gap before them are still written.
  func stop() { change { $0.ending = .stopped } }

  /// A summary of the lines that were written.
  var summary: Summary { state.withLock { $0.summary } }

  /// Why the output is incomplete.
  var failure: BatchFailure? { state.withLock(\.failure) }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    wakeSignal.ring()
  }

  // MARK: - Writing

  /// Writes until the end.
  ///
  /// - Parameter failed: called when nothing more can be written.
  func run(output: Int32, report: Int32?, failed: () -> Void) {
    do throws(BatchFailure) {
      try write(output, report)
    } catch {
      state.withLock { $0.failure = error }
      failed()
    }
  }

  private func write(_ output: Int32, _ report: Int32?) throws(BatchFailure) {
    var request = ResultRequest(stopsAtUndecided: true)
    var lines = LineJoiner(endsEach: false)
    while true {
      let (ending, isCleared) = state.withLock { ($0.ending, $0.isCleared) }
      let page = isCleared ? try results(request) : ResultPage(entries: [], last: 0, isAtEnd: true)
      if !page.entries.isEmpty {
        try write(lines.join(page.entries), to: output, or: BatchFailure.output)
        if let report { try write(page.entries.flatMap(\.record), to: report, or: BatchFailure.report) }
        request.after = page.last
        state.withLock { state in
          for entry in page.entries { state.summary.count(entry.outcome, entry.reason, status: entry.status) }
        }
      }
      guard page.isAtEnd else { continue }
      if ending != nil { return }
      wakeSignal.wait(until: machine.now.advanced(by: ResultStream.pollingInterval))
    }
  }

  private func results(_ request: ResultRequest) throws(BatchFailure) -> ResultPage {
    do throws(QueueError) {
      return try queue.results(request)
    } catch {
      throw .queue(error)
    }
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32, or failure: (SystemError) -> BatchFailure) throws(BatchFailure) {
    do throws(SystemError) {
      try WholeWrite.write(bytes, to: descriptor)
    } catch {
      throw failure(error)
    }
  }
}

extension ResultPage.Entry {
  /// The status of the response that is the reason; nil for any other reason.
  fileprivate var status: Int? {
    guard reason == .httpStatus else { return nil }
    let parser = JSONParser(capacity: record.count)
    defer { withExtendedLifetime(parser) {} }
    var status: Int?
    parser.parse(copying: record)?.member("media")?.forEachElement { medium in
      let isReason = medium.member("reason")?.text == UntrustedText(Reason.httpStatus.rawValue)
      if isReason { status = status ?? medium.member("status")?.integer }
    }
    return status
  }
}

/// Why a batch did not finish. Existing results are kept: the batch continues when it is restarted.
package enum BatchFailure: Error, Hashable, Sendable {
  case input(SystemError), output(SystemError), report(SystemError), system(SystemError)
  case queue(QueueError)
  /// A line differs from when the batch was started. It was not added.
  case changed(line: Int)
  /// The number of payloads in the queue is not the number of lines: the payloads are from another
  /// file, or from this one when it was longer.
  case otherPayloads(inQueue: Int, lines: Int)
  /// A line exceeds the limit of a queue.
  case overlong(line: Int)
}
