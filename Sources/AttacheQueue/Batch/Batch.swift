package import Attache
internal import Glibc
internal import Synchronization

/// Processes a file through a queue. Its lines are enqueued, processed and written at the same
/// time, each once, however often the batch is restarted.
package final class Batch: Sendable {
  /// The result of a run.
  package struct Result: Sendable {
    /// A summary of the lines that were written.
    package var summary = Summary()
    package var elapsed = Duration.zero
    /// Whether every line of the input has its result and was written.
    package var isComplete = false
  }

  private struct State {
    var failure: BatchFailure?
    /// Lines of the input that are in the queue.
    var enqueued = 0
    /// The number of lines of the input; nil until all are in the queue.
    var lines: Int?
    /// Whether to read no more lines.
    var isStopped = false
  }

  private let queue: any PayloadQueue
  private let worker: QueueWorker
  private let payloadPath: JSONPointer?
  private let machine: any Machine
  private let reading: ReadingStop
  /// Ends a wait for the machine to recover.
  private let stopping: any WakeSignal
  private let output: BatchOutput
  private let observer: BatchObserver
  private let state = Mutex(State())
  /// Payloads that were in the queue when this run began, and those of them with a result.
  private let linesBefore, doneBefore: Int

  /// - Parameters:
  ///   - queue: an empty queue, or the queue of the same batch, which then continues. The caller
  ///     closes it.
  ///   - worker: processes the queue until ``QueueWorker/endWhenDone()`` is called and all is done.
  ///   - observer: the worker's observer.
  ///   - payloadPath: the place of the payload in a line, for reading the delivery fields of its
  ///     envelope.
  package init(
    _ queue: any PayloadQueue, worker: QueueWorker, observer: BatchObserver, payloadPath: JSONPointer?,
    machine: any Machine = SystemMachine()
  ) throws(BatchFailure) {
    self.queue = queue
    self.worker = worker
    self.observer = observer
    self.payloadPath = payloadPath
    self.machine = machine
    let counts = try Self.asking { () throws(QueueError) in try queue.counts() }
    (linesBefore, doneBefore) = (counts.total, counts.decided)
    do throws(SystemError) {
      reading = try ReadingStop(machine: machine)
      stopping = try machine.makeWakeSignal()
      output = BatchOutput(queue, isCleared: counts.total == 0, wakeSignal: observer.wakeSignal, machine: machine)
    } catch {
      throw .system(error)
    }
  }

  /// Runs to the end, or until ``stop()``.
  ///
  /// - Parameters:
  ///   - input: the descriptor of the lines. The caller closes all descriptors.
  ///   - target: the descriptor of the output.
  ///   - report: the descriptor of the report; nil writes none.
  package func run(input: Int32, output target: Int32, report: Int32?) throws(BatchFailure) -> Result {
    let start = machine.now
    let (enqueuing, writing) = try started(input, target, report)
    var failure: BatchFailure?
    var result = Result()
    do throws(QueueError) {
      let worked = try worker.run()
      result.isComplete = !worked.isWorkLeft && state.withLock { $0.lines } != nil
    } catch {
      failure = .queue(error)
    }
    stopReading()
    enqueuing.join()
    if result.isComplete { output.complete() } else { output.stop() }
    writing.join()
    if let failure = state.withLock(\.failure) ?? output.failure ?? failure { throw failure }
    result.summary = output.summary
    result.elapsed = start.duration(to: machine.now)
    return result
  }

  /// Reads and claims nothing more. Payloads in flight are finished. Safe from any thread.
  package func stop() {
    stopReading()
    worker.stop()
  }

  private func stopReading() {
    state.withLock { $0.isStopped = true }
    reading.request(finishingLineBy: machine.now)
    stopping.ring()
  }

  /// Stops, and gives back payloads in flight. Safe from any thread.
  package func cancel() {
    stop()
    worker.cancel()
  }

  /// The progress of the batch, without the elapsed time. Safe from any thread.
  package var progress: BatchProgress {
    var progress = BatchProgress()
    (progress.enqueued, progress.lines) = state.withLock { ($0.enqueued, $0.lines) }
    (progress.before, progress.counts) = (doneBefore, observer.counts)
    return progress
  }

  /// Releases the attachments that the queue holds in the store. Call it when the output is in its
  /// final place, because then the results will not be read again.
  package func release() throws(BatchFailure) {
    let holds = try Self.asking { () throws(QueueError) in try ReleasedHolds(of: queue) }
    var request = ResultRequest(onlyUnread: true)
    while true {
      let page = try Self.asking { () throws(QueueError) in try queue.results(request) }
      try Self.asking { () throws(QueueError) in
        try holds.remove { () throws(QueueError) in try queue.markRead(page.entries.map(\.id)) }
      }
      if page.isAtEnd { return }
      request.after = page.last
    }
  }

  // MARK: - The threads beside the worker's

  private func started(_ input: Int32, _ target: Int32, _ report: Int32?) throws(BatchFailure) -> (any StartedThread, any StartedThread) {
    do throws(SystemError) {
      let enqueuing = try machine.start("enqueue") { [self] in enqueue(input) }
      do throws(SystemError) {
        return (enqueuing, try machine.start("results") { [self] in output.run(output: target, report: report) { stop() } })
      } catch {
        // The caller closes the queue.
        stopReading()
        enqueuing.join()
        throw error
      }
    } catch {
      throw .system(error)
    }
  }

  private func enqueue(_ input: Int32) {
    var options = EnqueueOptions()
    options.payloadPath = payloadPath
    options.stopsAtOverlong = true
    // When the batch continues, the whole input is read again.
    options.keepsUnfinished = false
    options.linesBefore = linesBefore
    options.key = .own { line, number in BatchKey.key(of: line, number: number) }
    var events = Enqueuer.Events()
    events.afterBatch = { [self] counts in
      state.withLock { $0.enqueued = counts.enqueued }
      worker.lookAgain()
    }
    events.shouldRetry = { [self] error in waits(for: error) }
    let enqueuer = Enqueuer(queue, options, events, machine: machine)
    do throws(BatchFailure) {
      guard try enqueued(enqueuer, input) else { return stop() }
      output.clear()
      state.withLock { $0.lines = enqueuer.counts.enqueued }
      worker.endWhenDone()
    } catch {
      state.withLock { $0.failure = error }
      stop()
    }
  }

  /// While the machine fails, for example because of a full disk, lines wait, as the worker does.
  ///
  /// - Returns: whether to try again.
  private func waits(for error: QueueError) -> Bool {
    guard let fault = MachineFault(error), !state.withLock(\.isStopped) else { return false }
    worker.pause(fault)
    stopping.wait(until: machine.now.advanced(by: worker.pause))
    return !state.withLock(\.isStopped)
  }

  /// - Returns: whether the queue contains the whole input and nothing else.
  private func enqueued(_ enqueuer: Enqueuer, _ input: Int32) throws(BatchFailure) -> Bool {
    let ending: Enqueuer.Ending
    do throws(EnqueueError) {
      ending = try enqueuer.run(input, stop: reading)
    } catch {
      switch error {
      case .input(let error): throw .input(error)
      case .system(let error): throw .system(error)
      // A stopped batch does not wait for the machine.
      case .queue(let error) where MachineFault(error) != nil && state.withLock(\.isStopped): return false
      case .queue(let error): throw .queue(error)
      case .changed(let line): throw .changed(line: line)
      }
    }
    switch ending {
    case .stopped: return false
    case .overlong: throw .overlong(line: enqueuer.counts.firstOverlong ?? 0)
    case .end: break
    }
    let total = try Self.asking { () throws(QueueError) in try queue.counts() }.total
    guard total == enqueuer.counts.enqueued else { throw .otherPayloads(inQueue: total, lines: enqueuer.counts.enqueued) }
    return true
  }

  private static func asking<Value>(_ body: () throws(QueueError) -> Value) throws(BatchFailure) -> Value {
    do throws(QueueError) {
      return try body()
    } catch {
      throw .queue(error)
    }
  }
}
