package import Attache
internal import Glibc
internal import Synchronization

/// Writes the results of a queue to a descriptor, in the order enqueued. With
/// ``Options/onlyUnread``, it marks lines as read in the queue after it has written them.
///
/// One thread runs it. Any thread may stop it.
package final class ResultStream: Sendable {
  /// Which results a stream writes, and when it ends.
  package struct Options: Hashable, Sendable {
    /// Whether to write the report's records instead of the lines. Records do not mark results as
    /// read.
    package var writesRecords = false
    /// Whether to wait for each payload in turn, until ``ResultStream/stop()``. Otherwise payloads
    /// without a result are skipped.
    package var follows = false
    /// Whether to skip results that were read before.
    package var onlyUnread = false

    package init() {}
  }

  /// How long a following stream waits before it asks the queue again, after it found nothing new.
  package static let pollingInterval = Duration.milliseconds(200)

  private let queue: any ResultReading
  private let options: Options
  private let descriptor: Int32
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let isStopped = Atomic<Bool>(false)

  /// - Throws: ``SystemError`` when no descriptor is available.
  package init(_ queue: any ResultReading, _ options: Options, descriptor: Int32, machine: any Machine = SystemMachine())
    throws(SystemError)
  {
    self.queue = queue
    self.options = options
    self.descriptor = descriptor
    self.machine = machine
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Ends a following stream after its current write. Safe from any thread.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    wakeSignal.ring()
  }

  /// Writes results until the end. With ``Options/onlyUnread``, written results count as delivered.
  ///
  /// - Returns: the number of results written.
  package func run() throws(ResultStreamError) -> Int {
    var request = ResultRequest(stopsAtUndecided: options.follows, onlyUnread: options.onlyUnread)
    let holds = try asking { () throws(QueueError) in try ReleasedHolds(of: queue) }
    var lines = LineJoiner(endsEach: options.follows || options.onlyUnread)
    var count = 0
    while !isStopped.load(ordering: .relaxed) {
      let page = try asking { () throws(QueueError) in try queue.results(request) }
      request.after = page.last
      if !page.entries.isEmpty {
        try write(options.writesRecords ? page.entries.flatMap(\.record) : lines.join(page.entries))
        count += page.entries.count
        if options.onlyUnread, !options.writesRecords {
          try asking { () throws(QueueError) in
            try holds.remove { () throws(QueueError) in try queue.markRead(page.entries.map(\.id)) }
          }
        }
      }
      guard page.isAtEnd else { continue }
      guard options.follows else { break }
      wakeSignal.wait(until: machine.now.advanced(by: Self.pollingInterval))
      if WholeWrite.isAbandoned(descriptor) { throw .output(SystemError(call: "write", number: EPIPE)) }
    }
    return count
  }

  private func asking<Value>(_ body: () throws(QueueError) -> Value) throws(ResultStreamError) -> Value {
    do throws(QueueError) {
      return try body()
    } catch {
      throw .queue(error)
    }
  }

  private func write(_ bytes: [UInt8]) throws(ResultStreamError) {
    do throws(SystemError) {
      try WholeWrite.write(bytes, to: descriptor)
    } catch {
      throw .output(error)
    }
  }
}

/// Why a stream did not write every result.
package enum ResultStreamError: Error, Hashable, Sendable {
  /// The queue failed.
  case queue(QueueError)
  /// The write failed. Results that were not written do not count as read.
  case output(SystemError)
}

/// Joins lines. A line without a line ending gets a line feed when another line follows.
struct LineJoiner {
  /// Whether each line gets its line feed at once, because a reader waits for the line or a later
  /// run appends to the same output.
  let endsEach: Bool
  private var owesLineFeed = false

  init(endsEach: Bool) {
    self.endsEach = endsEach
  }

  mutating func join(_ entries: [ResultPage.Entry]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.reduce(0) { $0 + $1.line.count + 1 })
    for entry in entries {
      if owesLineFeed { bytes.append(UInt8(ascii: "\n")) }
      bytes += entry.line
      owesLineFeed = entry.line.last != UInt8(ascii: "\n")
    }
    if owesLineFeed, endsEach {
      bytes.append(UInt8(ascii: "\n"))
      owesLineFeed = false
    }
    return bytes
  }
}
