/// Threads for extensions that may block. An idle thread is reused, and a new one is created if all
/// are busy, so that no extension waits for another. A value: its owner starts the threads.
struct ExtensionThreads: Sendable {
  /// The maximum number of threads. A blocked extension keeps its thread forever, and memory must
  /// not grow without limit.
  static let maximum = 1_024

  private var idle: [ExtensionThread] = []
  private var count = 0

  /// Returns an idle thread, or a new one that the caller must start.
  ///
  /// - Returns: nil if every thread is blocked or no file descriptor is available.
  mutating func take(on machine: any Machine) -> (thread: ExtensionThread, isNew: Bool)? {
    if let thread = idle.popLast() { return (thread, false) }
    guard count < Self.maximum, let thread = try? ExtensionThread(machine: machine) else { return nil }
    count += 1
    return (thread, true)
  }

  mutating func park(_ thread: ExtensionThread) {
    idle.append(thread)
  }

  /// Records that a new thread could not be started.
  mutating func noteFailedStart() {
    count -= 1
  }

  /// Makes every idle thread check whether its owner is gone.
  func wakeIdle() {
    for thread in idle { thread.alarm.ring() }
  }
}

/// A thread that waits for work.
final class ExtensionThread: Sendable {
  let alarm: any WakeSignal
  private let work: Mailbox<(@Sendable () -> Void)?>

  init(machine: any Machine) throws(SystemError) {
    let alarm = try machine.makeWakeSignal()
    self.alarm = alarm
    work = Mailbox(nil) { alarm.ring() }
  }

  func give(_ work: @escaping @Sendable () -> Void) {
    self.work.change { $0 = work }
  }

  /// Runs the work and releases it, because a thread that waits must not retain it.
  ///
  /// - Returns: false if there is none. The caller then waits for ``alarm``.
  func perform() -> Bool {
    let work = work.take { work in
      let taken = work.take()
      return (taken, sleeps: taken == nil)
    }
    work?()
    return work != nil
  }
}
