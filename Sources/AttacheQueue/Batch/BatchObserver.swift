package import Attache
internal import Synchronization

/// Counts the results of a batch in this run, and wakes the thread that writes them.
package final class BatchObserver: WorkerObserver {
  /// Results of this run.
  package struct Counts: Hashable, Sendable {
    package var finished = 0
    package var attached = 0
    package var fallback = 0
    package var invalid = 0
    /// Payloads that were given back for a retry, counted once for each time.
    package var postponed = 0
  }

  let wakeSignal: any WakeSignal
  private let state = Mutex(Counts())

  /// - Throws: ``SystemError`` when no descriptor is available.
  package init(machine: any Machine = SystemMachine()) throws(SystemError) {
    wakeSignal = try machine.makeWakeSignal()
  }

  package var counts: Counts {
    state.withLock { $0 }
  }

  package func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, lateness: Duration, media: [MediaRecord]) {
    state.withLock { counts in
      counts.finished += 1
      switch outcome {
      case .attached: counts.attached += 1
      case .fallback: counts.fallback += 1
      case .invalid: counts.invalid += 1
      case .passthrough: break
      }
    }
  }

  package func postponed(_ reason: Reason?) {
    state.withLock { $0.postponed += 1 }
  }

  package func refused() {}

  package func holding(_ payloads: Int) {
    wakeSignal.ring()
  }

  package func paused(_ why: String?) {}
}
