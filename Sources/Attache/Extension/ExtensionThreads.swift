internal import Synchronization

/// Threads for extensions that may block. An idle thread is reused, and a new one is created if all
/// are busy, so that no extension waits for another.
final class ExtensionThreads: Sendable {
  /// A thread that waits for work.
  private final class Idler: Sendable {
    let work = Mutex<(@Sendable () -> Void)?>(nil)
    let alarm: any WakeSignal

    init(machine: any Machine) throws(SystemError) {
      alarm = try machine.makeWakeSignal()
    }

    /// Runs its work and releases it; returns false if there is none.
    func perform() -> Bool {
      guard let work = work.withLock({ $0.take() }) else { return false }
      work()
      return true
    }
  }

  private struct State {
    var idlers: [Idler] = []
    var count = 0
  }

  /// The maximum number of threads. A blocked extension keeps its thread forever, and memory must
  /// not grow without limit.
  static let maximum = 1_024

  private let machine: any Machine
  private let state = Mutex(State())

  init(machine: any Machine) {
    self.machine = machine
  }

  /// Runs `work` on its own thread for as long as it takes.
  ///
  /// - Returns: false if every thread is blocked or the system cannot create another.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    let (idler, isNew) = state.withLock { state in
      if let idler = state.idlers.popLast() { return (Optional(idler), false) }
      guard state.count < Self.maximum, let idler = try? Idler(machine: machine) else { return (nil, false) }
      state.count += 1
      return (idler, true)
    }
    guard let idler else { return false }
    idler.work.withLock { $0 = work }
    guard isNew else {
      idler.alarm.ring()
      return true
    }
    return start(idler)
  }

  private func start(_ idler: Idler) -> Bool {
    do {
      try machine.start("extension") { [weak self] in
        // A waiting thread must not retain its last work or this pool.
        while true {
          if idler.perform() { self?.park(idler) }
          guard self != nil else { return }
          idler.alarm.wait(until: nil)
        }
      }.detach()
      return true
    } catch {
      state.withLock { $0.count -= 1 }
      return false
    }
  }

  private func park(_ idler: Idler) {
    state.withLock { $0.idlers.append(idler) }
  }

  deinit {
    for idler in state.withLock({ $0.idlers }) { idler.alarm.ring() }
  }
}
