package import Attache

/// Reads lines and adds them to a queue in batches. When the input pauses, it adds what it has read
/// so far. While a batch is added, it reads the next one.
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
    /// The number of the last enqueued line, from 1; 0 if there is none. Each line before it is in
    /// the queue or was skipped.
    package var lastLine = 0
    /// Lines that were skipped because they are too long.
    package var overlong = 0
    /// The number of the first line that was too long, from 1.
    package var firstOverlong: Int?
    /// The number of the line that was added incomplete, because its end did not arrive in time
    /// after a stop.
    package var unfinished: Int?
    /// The last line of the batch of which the queue did not say whether it added it
    /// (``QueueError/unknown(_:)``). The batch begins after ``lastLine``.
    package var lastLineInDoubt: Int?
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

  /// Called on another thread than the reader's, one at a time.
  package struct Events: Sendable {
    /// Called after each batch that is in the queue.
    package var afterBatch: @Sendable (Counts) -> Void = { _ in }
    /// Called when the queue refuses a call. True repeats the call at once.
    package var shouldRetry: @Sendable (QueueError) -> Bool = { _ in false }

    package init() {}
  }

  private static let blockSize = 1 << 20

  /// The lines of committed transactions. Valid after an error too.
  package private(set) var counts = Counts()
  private let queue: any PayloadIntake
  private let options: EnqueueOptions
  private let events: Events
  private let machine: any Machine
  private let reader: DeliveryReader
  private var batch = EnqueueBatch()
  private var line = 0

  package init(
    _ queue: any PayloadIntake, _ options: EnqueueOptions, _ events: Events = Events(), machine: any Machine = SystemMachine()
  ) {
    (self.queue, self.options, self.events, self.machine) = (queue, options, events, machine)
    reader = DeliveryReader(payloadPath: options.payloadPath)
  }

  /// Adds the lines of an input to the queue, until its end or a stop.
  ///
  /// - Parameters:
  ///   - descriptor: the input, which is neither closed nor changed.
  ///   - stop: is requested if the queue refuses a batch.
  package func run(_ descriptor: Int32, stop: ReadingStop) throws(EnqueueError) -> Ending {
    let adder: BatchAdder
    let adding: any StartedThread
    do throws(SystemError) {
      try reader.checkMemory()
      adder = try BatchAdder(queue, linesBefore: options.linesBefore, events, machine: machine)
      adding = try machine.start("add") { [adder, machine] in adder.run { stop.request(finishingLineBy: machine.now) } }
    } catch {
      throw .system(error)
    }
    let lines = LineReader(
      descriptor: descriptor, stop: stop, padding: 0, blockSize: Self.blockSize, maximumLine: NewPayload.maximumLine)
    let ending = Result { () throws(SystemError) in try read(lines, adder) }
    adder.complete()
    adding.join()
    let skipped = counts
    counts = adder.counts
    (counts.overlong, counts.firstOverlong) = (skipped.overlong, skipped.firstOverlong)
    if skipped.unfinished == counts.lastLine { counts.unfinished = skipped.unfinished }
    if let failure = adder.failure { throw failure }
    do throws(SystemError) { return try ending.get() } catch { throw .input(error) }
  }

  /// Reads until the end, a stop or a failure of the adder. What was read is handed to the adder,
  /// after an error too.
  private func read(_ lines: LineReader, _ adder: BatchAdder) throws(SystemError) -> Ending {
    defer { _ = submit(to: adder) }
    while true {
      var goesOn = true
      switch try lines.next() {
      case .line(let segment): goesOn = add(segment.bytes, adder)
      case .unfinished(let segment):
        guard options.keepsUnfinished else { continue }
        goesOn = add(segment.bytes, adder)
        counts.unfinished = line
      case .overlong(_, isLast: false): break
      case .overlong(_, isLast: true):
        skipOverlong()
        if options.stopsAtOverlong { return .overlong }
      case .pause: goesOn = submit(to: adder)
      case .end: return .end
      case .stopped: return .stopped
      }
      guard goesOn else { return .stopped }
    }
  }

  /// - Returns: false after a failure of the adder.
  private func add(_ bytes: [UInt8], _ adder: BatchAdder) -> Bool {
    line += 1
    var payload = NewPayload(bytes, envelope: reader.envelope(of: bytes), options)
    payload.key = options.key.key(of: bytes, number: line, reader)
    payload.searchKey = options.searchKey.key(of: bytes, number: line, reader)
    batch.append(payload, line: line)
    return batch.isFull ? submit(to: adder) : true
  }

  private func skipOverlong() {
    line += 1
    counts.overlong += 1
    counts.firstOverlong = counts.firstOverlong ?? line
  }

  /// - Returns: false after a failure of the adder.
  private func submit(to adder: BatchAdder) -> Bool {
    guard !batch.isEmpty else { return true }
    defer { batch = EnqueueBatch() }
    return adder.submit(batch)
  }
}

/// Why not every line is in the queue.
package enum EnqueueError: Error, Hashable, Sendable {
  /// The input cannot be read. What was read before is in the queue.
  case input(SystemError)
  /// There was no memory for parsing the delivery fields of a line, or no thread or descriptor.
  /// Nothing was read.
  case system(SystemError)
  /// The queue refused a batch.
  case queue(QueueError)
  /// A line that should be in the queue is not. This line and the lines after it were not added.
  case changed(line: Int)
}
