package import Attache

/// Reads lines and adds them to a queue in batches. When the input pauses, it adds what it has read
/// so far.
///
/// Reads one input. Not thread-safe: one thread uses it.
package final class Enqueuer {
  /// The lines that were read so far, by what became of them.
  package struct Counts: Hashable, Sendable {
    /// Lines that are in the queue, including those that were there before.
    package var enqueued = 0
    /// Lines that were in the queue before.
    package var repeated = 0
    /// The total length of the enqueued lines, in bytes.
    package var bytes = 0
    /// Lines that were skipped because they are too long.
    package var overlong = 0
    /// The number of the first line that was too long, from 1.
    package var firstOverlong: Int?
    /// The number of the line that was added incomplete, because its end did not arrive in time
    /// after a stop.
    package var unfinished: Int?
    /// Lines of which the queue did not say whether it added them (``QueueError/unknown(_:)``). They
    /// follow the enqueued lines.
    package var unknown = 0
  }

  /// Why reading ended.
  package enum Ending: Hashable, Sendable {
    case end
    /// A stop was requested. Every line that was read is in the queue.
    case stopped
    /// A line is too long, and the options end the reading there. The lines before it are in the
    /// queue.
    case overlong
  }

  /// The limits of a batch. The last line may exceed the limit of bytes.
  private static let (batchPayloads, batchBytes) = (4_096, 4 << 20)
  private static let blockSize = 1 << 20

  /// The lines of committed transactions. Valid after an error too.
  package private(set) var counts = Counts()
  private let queue: any PayloadIntake
  private let options: EnqueueOptions
  private let reader: DeliveryReader
  private var batch: [NewPayload] = []
  private var batchBytes = 0
  private var line = 0
  private let afterBatch: (Counts) -> Void
  private let triesAgain: (QueueError) -> Bool

  /// - Parameters:
  ///   - afterBatch: called after each batch that is in the queue.
  ///   - triesAgain: called when the queue refuses a call. True repeats the call at once.
  package init(
    _ queue: any PayloadIntake, _ options: EnqueueOptions, afterBatch: @escaping (Counts) -> Void = { _ in },
    triesAgain: @escaping (QueueError) -> Bool = { _ in false }
  ) {
    self.queue = queue
    self.options = options
    self.afterBatch = afterBatch
    self.triesAgain = triesAgain
    reader = DeliveryReader(payloadPath: options.payloadPath)
  }

  /// Adds the lines of an input to the queue, until its end or a stop.
  ///
  /// - Parameter descriptor: the input, which is neither closed nor changed.
  package func run(_ descriptor: Int32, stop: ReadingStop) throws(EnqueueError) -> Ending {
    do throws(SystemError) { try reader.checkMemory() } catch { throw .memory(error) }
    let lines = LineReader(
      descriptor: descriptor, stop: stop, padding: 0, blockSize: Self.blockSize, maximumLine: NewPayload.maximumLine)
    while true {
      switch try next(of: lines) {
      case .line(let segment): try add(segment.bytes)
      case .unfinished(let segment):
        guard options.keepsUnfinished else { continue }
        try add(segment.bytes)
        counts.unfinished = line
      case .overlong(_, isLast: false): break
      case .overlong(_, isLast: true):
        skipOverlong()
        if options.stopsAtOverlong { return try end(.overlong) }
      case .pause: try flush()
      case .end: return try end(.end)
      case .stopped: return try end(.stopped)
      }
    }
  }

  private func next(of lines: LineReader) throws(EnqueueError) -> LineReader.Input {
    do throws(SystemError) {
      return try lines.next()
    } catch {
      try flush()
      throw .input(error)
    }
  }

  private func add(_ bytes: [UInt8]) throws(EnqueueError) {
    line += 1
    var payload = NewPayload(bytes, envelope: reader.envelope(of: bytes), options)
    payload.key = options.key.key(of: bytes, number: line, reader)
    batch.append(payload)
    batchBytes += bytes.count
    if batch.count >= Self.batchPayloads || batchBytes >= Self.batchBytes { try flush() }
  }

  private func skipOverlong() {
    line += 1
    counts.overlong += 1
    counts.firstOverlong = counts.firstOverlong ?? line
  }

  private func end(_ ending: Ending) throws(EnqueueError) -> Ending {
    try flush()
    return ending
  }

  private func flush() throws(EnqueueError) {
    guard !batch.isEmpty else { return }
    if let line = try asking(firstUnknown) { throw .changed(line: line) }
    counts.repeated += batch.count - (try asking { () throws(QueueError) in try queue.enqueue(batch) })
    counts.enqueued += batch.count
    counts.bytes += batchBytes
    batch.removeAll(keepingCapacity: true)
    batchBytes = 0
    afterBatch(counts)
  }
}

extension Enqueuer {
  /// Returns the number of the first line of the batch that should be in the queue but is not.
  private func firstUnknown() throws(QueueError) -> Int? {
    let old = batch.prefix(max(0, options.linesBefore - counts.enqueued)).compactMap(\.key)
    guard !old.isEmpty, try queue.knows(old) < old.count else { return nil }
    for (index, key) in old.enumerated() where try queue.knows([key]) == 0 { return counts.enqueued + index + 1 }
    return nil
  }

  private func asking<Value>(_ body: () throws(QueueError) -> Value) throws(EnqueueError) -> Value {
    while true {
      do throws(QueueError) {
        return try body()
      } catch {
        guard triesAgain(error) else {
          if case .unknown = error { counts.unknown = batch.count }
          throw .queue(error)
        }
      }
    }
  }
}

/// Why not every line is in the queue.
package enum EnqueueError: Error, Hashable, Sendable {
  /// The input cannot be read. What was read before is in the queue.
  case input(SystemError)
  /// There was no memory for parsing the delivery fields of a line. Nothing was read.
  case memory(SystemError)
  /// The queue refused a batch.
  case queue(QueueError)
  /// A line that should be in the queue is not. This line and the lines after it were not added.
  case changed(line: Int)
}
