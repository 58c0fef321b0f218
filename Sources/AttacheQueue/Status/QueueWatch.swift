package import Attache
internal import Synchronization

/// Reads a queue's status once a second.
package final class QueueWatch: Sendable {
  private static let interval = Duration.seconds(1)

  private let queue: any QueueAdministration
  private let location: QueueLocation
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let isStopped = Atomic<Bool>(false)

  /// - Throws: ``SystemError`` when no descriptor is available.
  package init(_ queue: any QueueAdministration, _ location: QueueLocation, machine: any Machine = SystemMachine()) throws(SystemError) {
    self.queue = queue
    self.location = location
    self.machine = machine
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Ends ``run(_:)``. Safe from any thread.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    wakeSignal.ring()
  }

  /// Reads the status until ``stop()``.
  ///
  /// - Parameter show: receives each status.
  /// - Throws: what `show` throws, and ``QueueError``.
  package func run(_ show: (QueueStatus) throws -> Void) throws {
    var rate = ResultRate()
    var next = machine.now
    while !isStopped.load(ordering: .relaxed) {
      let counts = try queue.counts()
      try show(QueueStatus(location, counts, rate: rate.add(counts, at: machine.now)))
      next = max(next.advanced(by: Self.interval), machine.now)
      while !isStopped.load(ordering: .relaxed), machine.now < next { wakeSignal.wait(until: next) }
    }
  }

  /// Returns terminal output that replaces the lines shown before.
  ///
  /// - Parameter height: the number of lines shown before.
  package static func redrawn(_ lines: [String], over height: Int, width: Int) -> String {
    let up = height == 0 ? "" : "\u{1B}[\(height)A"
    return up + lines.map { "\r" + $0.prefix(width) + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
  }
}
