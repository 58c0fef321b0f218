internal import Attache
internal import Synchronization

/// Adds batches to a queue on a thread of its own, so that the next batch is read meanwhile.
///
/// It adds one batch at a time, in the order of ``add(_:)``. After a failure it adds no further one.
final class BatchAdder: Sendable {
  /// Payloads that are added in one call.
  struct Batch: Sendable {
    /// The limits of a batch. The last line may exceed the limit of bytes.
    private static let (maximumPayloads, maximumBytes) = (4_096, 4 << 20)

    private(set) var payloads: [NewPayload] = []
    /// The total length of the lines.
    private(set) var bytes = 0
    /// The number of the last line, from 1.
    private(set) var lastLine = 0

    var isEmpty: Bool { payloads.isEmpty }
    var isFull: Bool { payloads.count >= Self.maximumPayloads || bytes >= Self.maximumBytes }

    mutating func append(_ payload: NewPayload, line: Int) {
      payloads.append(payload)
      bytes += payload.line.count
      lastLine = line
    }

    /// Appends the payloads of the next batch.
    ///
    /// - Returns: false if both together are larger than a batch. Then nothing changes.
    fileprivate mutating func append(_ next: Batch) -> Bool {
      guard !isEmpty else {
        self = next
        return true
      }
      guard payloads.count + next.payloads.count <= Self.maximumPayloads, bytes + next.bytes <= Self.maximumBytes else { return false }
      payloads += next.payloads
      bytes += next.bytes
      lastLine = next.lastLine
      return true
    }
  }

  private struct Inbox {
    /// What is added when the current batch is in the queue.
    var next = Batch()
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
  private let arrival, room: any WakeSignal
  private let inbox: Mailbox<Inbox>
  private let outcome = Mutex(Outcome())

  /// - Parameter linesBefore: ``EnqueueOptions/linesBefore``
  init(_ queue: any PayloadIntake, linesBefore: Int, _ events: Enqueuer.Events, machine: any Machine) throws(SystemError) {
    (self.queue, self.linesBefore, self.events) = (queue, linesBefore, events)
    let arrival = try machine.makeWakeSignal()
    self.arrival = arrival
    room = try machine.makeWakeSignal()
    inbox = Mailbox(Inbox()) { arrival.ring() }
  }

  /// The counts of what is in the queue. The lines that were skipped are not among them.
  var counts: Enqueuer.Counts { outcome.withLock(\.counts) }
  /// Why adding ended early.
  var failure: EnqueueError? { outcome.withLock(\.failure) }

  // MARK: The reader

  /// Hands over the next batch. Waits while it is too large to join the batch that waits.
  ///
  /// - Returns: false after a failure.
  func add(_ batch: Batch) -> Bool {
    while true {
      let isDone: Bool? = inbox.change { inbox in
        guard !inbox.hasFailed else { return (false, isNews: false) }
        return inbox.next.append(batch) ? (true, isNews: true) : (nil, isNews: false)
      }
      if let isDone { return isDone }
      room.wait(until: nil)
    }
  }

  /// Says that no further batch comes. The thread ends when it has added what it has.
  func complete() { inbox.change { $0.isComplete = true } }

  // MARK: The thread

  /// - Parameter onFailure: called once, if a batch cannot be added.
  func run(onFailure: () -> Void) {
    while let batch = next() {
      do throws(EnqueueError) {
        try add(whole: batch)
      } catch {
        outcome.withLock { $0.failure = error }
        inbox.change { $0.hasFailed = true }
        room.ring()
        return onFailure()
      }
    }
  }

  private func next() -> Batch? {
    let batch = inbox.take(waitingFor: arrival) { inbox -> Batch? in
      defer { inbox.next = Batch() }
      return inbox.next.isEmpty && !inbox.isComplete ? nil : inbox.next
    }
    room.ring()
    return batch.isEmpty ? nil : batch
  }

  private func add(whole batch: Batch) throws(EnqueueError) {
    let before = counts
    if let place = try asking(batch, { () throws(QueueError) in try firstUnknown(batch, before.enqueued) }) { throw .changed(line: place) }
    let added = try asking(batch) { () throws(QueueError) in try queue.enqueue(batch.payloads) }
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
  private func firstUnknown(_ batch: Batch, _ enqueued: Int) throws(QueueError) -> Int? {
    let old = batch.payloads.prefix(max(0, linesBefore - enqueued)).compactMap(\.key)
    guard !old.isEmpty, try queue.knows(old) < old.count else { return nil }
    for (index, key) in old.enumerated() where try queue.knows([key]) == 0 { return enqueued + index + 1 }
    return nil
  }

  private func asking<Value>(_ batch: Batch, _ body: () throws(QueueError) -> Value) throws(EnqueueError) -> Value {
    while true {
      do throws(QueueError) {
        return try body()
      } catch {
        guard events.triesAgain(error) else {
          if case .unknown = error { outcome.withLock { $0.counts.lastUnknownLine = batch.lastLine } }
          throw .queue(error)
        }
      }
    }
  }
}
