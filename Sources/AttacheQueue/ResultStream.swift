package import Attache
internal import Glibc
internal import Synchronization

/// Writes the results of a queue to a descriptor, in the order enqueued, and notes in the queue
/// that they were read once they are written.
///
/// One thread runs it, another may stop it.
package final class ResultStream: Sendable {
  /// What is written, and when it is at its end.
  package struct Options: Hashable, Sendable {
    /// The report's records in the place of the lines; they do not count as read.
    package var writesRecords = false
    /// Whether each payload is waited for in its turn, until the stop; those without a result are
    /// passed over otherwise.
    package var follows = false
    /// Whether those that were read before are left out.
    package var onlyUnread = false

    package init() {}
  }

  /// How long a follower leaves the queue alone when it has nothing new.
  package static let pollingInterval = Duration.milliseconds(200)

  private let queue: any PayloadQueue
  private let options: Options
  private let descriptor: Int32
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let isStopped = Atomic<Bool>(false)

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  package init(_ queue: any PayloadQueue, _ options: Options, descriptor: Int32, machine: any Machine = SystemMachine()) throws(SystemError)
  {
    self.queue = queue
    self.options = options
    self.descriptor = descriptor
    self.machine = machine
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Ends a follower once it has written what it is at. Safe from any thread.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    wakeSignal.ring()
  }

  /// Writes until the end. What is written of ``Options/onlyUnread`` counts as delivered from then
  /// on.
  ///
  /// - Returns: how many were written.
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

/// Why not every result was written.
package enum ResultStreamError: Error, Hashable, Sendable {
  case queue(QueueError)
  /// What could not be written does not count as read.
  case output(SystemError)
}

/// Puts lines one behind the other: one that came without an ending gets a line feed when another
/// follows.
struct LineJoiner {
  /// Whether it gets it in any case: somebody waits for the line, or writes behind it another time.
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
