internal import Attache
internal import Glibc
internal import Synchronization

/// A thread of a simulation: a real one that runs only while it has the baton.
///
/// `@unchecked Sendable`: all that changes is touched under the simulation's lock, `body` before
/// the thread runs and by itself.
final class SimulatedThread: StartedThread, @unchecked Sendable {
  /// What a thread that does not run waits for.
  enum Wait {
    case wakeSignal(SimulatedWakeSignal, until: MonotonicInstant?)
    case end(of: SimulatedThread)
  }

  let number: Int
  let name: String
  let baton = Semaphore()
  var wait: Wait?
  var hasEnded = false
  /// The thread of the system, once it runs.
  var handle: pthread_t?
  var thread: Attache.Thread?
  private unowned let simulation: Simulation
  private var body: (@Sendable () -> Void)?

  init(_ name: String, number: Int, simulation: Simulation, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.number = number
    self.simulation = simulation
    self.body = body
  }

  /// Runs the body and lets go of all that it holds, so that nothing is torn down after the baton
  /// has gone on.
  func runBody() {
    body.take()?()
  }

  /// When it wakes by itself.
  var alarm: MonotonicInstant? {
    if case .wakeSignal(_, let instant)? = wait { instant } else { nil }
  }

  func join() {
    simulation.wait(forEndOf: self)
  }

  /// The simulation joins every thread in the end.
  func detach() {}
}

/// A wake signal of a simulation; its state is kept under the simulation's lock.
final class SimulatedWakeSignal: WakeSignal, @unchecked Sendable {
  var isRung = false
  private let simulation: Simulation

  init(_ simulation: Simulation) {
    self.simulation = simulation
  }

  func ring() {
    simulation.ring(self)
  }

  func wait(until instant: MonotonicInstant?) {
    simulation.wait(for: self, until: instant)
  }
}

/// What a loop sleeps in. Its one descriptor leads to the type detector, which is a real process:
/// its answer is waited for without any time passing.
final class SimulatedPoller: Poller {
  private let wakeSignal: any WakeSignal
  private let watched = Mutex<Set<Int32>>([])

  init(_ wakeSignal: any WakeSignal) {
    self.wakeSignal = wakeSignal
  }

  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool) {
    watched.withLock { _ = $0.insert(descriptor) }
  }

  func unwatch(_ descriptor: Int32) {
    watched.withLock { _ = $0.remove(descriptor) }
  }

  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void) {
    var requests = watched.withLock { $0.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) } }
    guard !requests.isEmpty else { return wakeSignal.wait(until: instant) }
    // A detector that hangs is ended by its own timer.
    while unsafe poll(&requests, nfds_t(requests.count), -1) < 0, errno == EINTR {}
    for request in requests where request.revents != 0 { ready(request.fd, .readable) }
  }

  func wake() {
    wakeSignal.ring()
  }
}
