internal import Attache
internal import Glibc
internal import Synchronization

/// A thread of a simulation: a real thread that runs only while it has the baton.
///
/// `@unchecked Sendable`: all mutable state is accessed under the simulation's lock. `body` is
/// accessed only before the thread runs and by the thread itself.
final class SimulatedThread: StartedThread, @unchecked Sendable {
  /// The condition that a waiting thread waits for.
  enum Wait {
    case wakeSignal(SimulatedWakeSignal, until: MonotonicInstant?)
    case end(of: SimulatedThread)
  }

  let number: Int
  let name: String
  let baton = Semaphore()
  var wait: Wait?
  var hasEnded = false
  /// The system's thread, once it runs.
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

  /// Runs the body and releases everything that it holds, so that nothing is destroyed after the
  /// baton has been passed on.
  func runBody() {
    body.take()?()
  }

  /// The time at which the thread wakes by itself.
  var alarm: MonotonicInstant? {
    if case .wakeSignal(_, let instant)? = wait { instant } else { nil }
  }

  func join() {
    simulation.wait(forEndOf: self)
  }

  /// Does nothing: the simulation joins every thread at the end.
  func detach() {}
}

/// A wake signal of a simulation. The simulation's lock protects its state.
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

/// The poller of a loop: of streams of the simulation, and of descriptors of real processes, which
/// are those of the type detector and of converters. Waiting for these takes no simulated time.
final class SimulatedPoller: Poller {
  private let wakeSignal: SimulatedWakeSignal
  private let simulation: Simulation
  private let watched = Mutex<Set<Int32>>([])

  init(_ wakeSignal: SimulatedWakeSignal, _ simulation: Simulation) {
    (self.wakeSignal, self.simulation) = (wakeSignal, simulation)
  }

  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool) {
    if !simulation.watch(descriptor, wakeSignal) { watched.withLock { _ = $0.insert(descriptor) } }
  }

  func unwatch(_ descriptor: Int32) {
    if !simulation.watch(descriptor, nil) { watched.withLock { _ = $0.remove(descriptor) } }
  }

  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void) {
    var requests = watched.withLock { $0.sorted().map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) } }
    guard requests.isEmpty else {
      // The detector's own timer ends a detector that hangs.
      while unsafe poll(&requests, nfds_t(requests.count), -1) < 0, errno == EINTR {}
      for request in requests where request.revents != 0 { ready(request.fd, .readable) }
      return
    }
    wakeSignal.wait(until: simulation.readable(by: wakeSignal).isEmpty ? instant : .distantPast)
    for descriptor in simulation.readable(by: wakeSignal) { ready(descriptor, .readable) }
  }

  func wake() {
    wakeSignal.ring()
  }
}
