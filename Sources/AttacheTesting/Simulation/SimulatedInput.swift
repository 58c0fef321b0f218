internal import Attache
internal import Glibc
internal import Synchronization

/// An input that is a file and can stay open after the file's end, like a pipe whose writer is
/// idle.
package final class SimulatedInput: Sendable {
  private struct State {
    var hasEnded = false
    var gates: [any WakeSignal] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Ends the input: a reader at the end of the file then sees the end of input.
  package func end() {
    let gates = state.withLock { state in
      state.hasEnded = true
      return state.gates
    }
    for gate in gates { gate.ring() }
  }

  fileprivate func isReady(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    let hasMore = unsafe pread(descriptor, &byte, 1, lseek(descriptor, 0, SEEK_CUR)) != 0
    return hasMore || state.withLock { $0.hasEnded }
  }

  fileprivate func add(_ gate: any WakeSignal) {
    state.withLock { $0.gates.append(gate) }
  }
}

/// The gate on which a reader of a simulation waits.
final class SimulatedInputGate: InputGate {
  private let wakeSignal: any WakeSignal
  private let input: SimulatedInput?
  private let isRung = Atomic<Bool>(false)

  init(_ wakeSignal: any WakeSignal, _ input: SimulatedInput?) {
    self.wakeSignal = wakeSignal
    self.input = input
    input?.add(wakeSignal)
  }

  func ring() {
    isRung.store(true, ordering: .relaxed)
    wakeSignal.ring()
  }

  func wait(for descriptor: Int32, until instant: MonotonicInstant?) -> Bool {
    if isRung.exchange(false, ordering: .relaxed) { return false }
    if input?.isReady(descriptor) ?? true { return true }
    wakeSignal.wait(until: instant)
    return false
  }
}
