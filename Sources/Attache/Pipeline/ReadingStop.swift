internal import Synchronization

/// A request to stop reading, which also wakes a reader that waits for input.
package final class ReadingStop: Sendable {
  /// The gate that the reader waits at for input.
  let gate: any InputGate
  private let machine: any Machine
  /// The time limit of the request, in nanoseconds; the maximum if there was none.
  private let limit = Atomic<Int64>(.max)

  /// - Throws: ``SystemError`` if no file descriptor is available.
  package init(machine: any Machine = SystemMachine()) throws(SystemError) {
    self.machine = machine
    gate = try machine.makeInputGate()
  }

  /// Asks the reader to stop as soon as it is between two lines. It may be called again with an
  /// earlier time; a later time changes nothing.
  ///
  /// - Parameter instant: the time limit for completing a line that is already half read.
  package func request(finishingLineBy instant: MonotonicInstant) {
    limit.min(min(instant.nanoseconds, .max - 1), ordering: .releasing)
    gate.ring()
  }

  /// Whether a stop was requested.
  var isRequested: Bool { finishLineBy != nil }

  /// Whether to abandon also a line that is half read.
  var isOverdue: Bool {
    finishLineBy.map { $0 <= machine.now } ?? false
  }

  /// The time limit of the request; nil if there was none.
  var finishLineBy: MonotonicInstant? {
    let nanoseconds = limit.load(ordering: .acquiring)
    return nanoseconds == .max ? nil : MonotonicInstant(nanoseconds: nanoseconds)
  }
}
