internal import Synchronization

/// A request to read no further, which also wakes a reader that waits for input.
package final class ReadingStop: Sendable {
  /// What the reader waits for its input with.
  let gate: any InputGate
  private let machine: any Machine
  private let limit = Mutex<MonotonicInstant?>(nil)

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  package init(machine: any Machine = SystemMachine()) throws(SystemError) {
    self.machine = machine
    gate = try machine.makeInputGate()
  }

  /// Asks the reader to stop as soon as it is between two lines. May be called again with an
  /// earlier instant; a later one changes nothing.
  ///
  /// - Parameter instant: until when a line, part of which was read already, may come to its end.
  package func request(finishingLineBy instant: MonotonicInstant) {
    limit.withLock { $0 = min($0 ?? instant, instant) }
    gate.ring()
  }

  /// Whether there was a request.
  var isRequested: Bool { finishLineBy != nil }

  /// Whether a line that was begun, too, is to be given up.
  var isOverdue: Bool {
    finishLineBy.map { $0 <= machine.now } ?? false
  }

  /// The instant of the request, or nil when there was none.
  var finishLineBy: MonotonicInstant? {
    limit.withLock { $0 }
  }
}
