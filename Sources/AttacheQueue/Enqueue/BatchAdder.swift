internal import Attache
internal import Synchronization

/// Adds batches to a queue while another thread reads the next one.
///
/// It adds one batch at a time, in the order of ``submit(_:)``. After a failure it adds no further
/// one.
final class BatchAdder: Sendable {
  private struct Inbox {
    /// The pending batch.
    var next = EnqueueBatch()
    /// Whether no further batch comes.
    var isComplete = false
    var hasFailed = false
  }

  private struct Outcome {
    var counts = Enqueuer.Counts()
    var failure: EnqueueError?
  }

  private let queue: any PayloadIntake
  private let linesBefore: Int
  private let events: Enqueuer.Events
  private let batchAvailable, spaceAvailable: any WakeSignal
  private let inbox: Mailbox<Inbox>
  private let outcome = Mutex(Outcome())

  /// - Parameter linesBefore: ``EnqueueOptions/linesBefore``
  init(_ queue: any PayloadIntake, linesBefore: Int, _ events: Enqueuer.Events, machine: any Machine) throws(SystemError) {
    (self.queue, self.linesBefore, self.events) = (queue, linesBefore, events)
    let batchAvailable = try machine.makeWakeSignal()
    self.batchAvailable = batchAvailable
    spaceAvailable = try machine.makeWakeSignal()
    inbox = Mailbox(Inbox()) { batchAvailable.ring() }
  }

  /// The counts of what is in the queue. The lines that were skipped are not among them.
  var counts: Enqueuer.Counts { outcome.withLock(\.counts) }
  /// Why adding ended early.
  var failure: EnqueueError? { outcome.withLock(\.failure) }

  // MARK: The reader

  /// Appends a batch to the pending one. Waits while both together are larger than a batch.
  ///
  /// - Returns: false after a failure.
  func submit(_ batch: EnqueueBatch) -> Bool {
    while true {
      let isDone: Bool? = inbox.change { inbox in
        guard !inbox.hasFailed else { return (false, isNews: false) }
        return inbox.next.append(batch) ? (true, isNews: true) : (nil, isNews: false)
      }
      if let isDone { return isDone }
      spaceAvailable.wait(until: nil)
    }
  }

  /// Ends the input. ``run(onFailure:)`` adds the pending batch and returns.
  func complete() { inbox.change { $0.isComplete = true } }

  // MARK: The thread

  /// - Parameter onFailure: called once, if a batch cannot be added.
  func run(onFailure: () -> Void) {
    while let batch = next() {
      do throws(EnqueueError) {
        try enqueue(batch)
      } catch {
        outcome.withLock { $0.failure = error }
        inbox.change { $0.hasFailed = true }
        spaceAvailable.ring()
        return onFailure()
      }
    }
  }

  private func next() -> EnqueueBatch? {
    let batch = inbox.take(waitingFor: batchAvailable) { inbox -> EnqueueBatch? in
      defer { inbox.next = EnqueueBatch() }
      return inbox.next.isEmpty && !inbox.isComplete ? nil : inbox.next
    }
    spaceAvailable.ring()
    return batch.isEmpty ? nil : batch
  }

  private func enqueue(_ batch: EnqueueBatch) throws(EnqueueError) {
    let before = counts
    if let place = try retrying(batch, { () throws(QueueError) in try firstMissing(batch, before.enqueued) }) {
      throw .changed(line: place)
    }
    let added = try retrying(batch) { () throws(QueueError) in try queue.enqueue(batch.payloads) }
    let counts = outcome.withLock { outcome in
      outcome.counts.repeated += batch.payloads.count - added
      outcome.counts.enqueued += batch.payloads.count
      outcome.counts.bytes += batch.bytes
      outcome.counts.lastLine = batch.lastLine
      return outcome.counts
    }
    events.afterBatch(counts)
  }

  /// Returns the number of the first line of the batch that should be in the queue but is not.
  private func firstMissing(_ batch: EnqueueBatch, _ enqueued: Int) throws(QueueError) -> Int? {
    let old = batch.payloads.prefix(max(0, linesBefore - enqueued)).compactMap(\.key)
    guard !old.isEmpty, try queue.knows(old) < old.count else { return nil }
    for (index, key) in old.enumerated() where try queue.knows([key]) == 0 { return enqueued + index + 1 }
    return nil
  }

  private func retrying<Value>(_ batch: EnqueueBatch, _ body: () throws(QueueError) -> Value) throws(EnqueueError) -> Value {
    while true {
      do throws(QueueError) {
        return try body()
      } catch {
        guard events.shouldRetry(error) else {
          if case .unknown = error { outcome.withLock { $0.counts.lastLineInDoubt = batch.lastLine } }
          throw .queue(error)
        }
      }
    }
  }
}
