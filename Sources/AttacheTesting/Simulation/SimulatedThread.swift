internal import Attache
internal import Glibc

/// A thread of a simulation: a real one that runs only while it has the baton.
///
/// `@unchecked Sendable`: all that changes is touched under the simulation's lock, `body` before the thread runs and by itself.
final class SimulatedThread: StartedThread, @unchecked Sendable {
  /// What a thread that does not run waits for.
  enum Wait {
    case bell(SimulatedBell, until: MonotonicInstant?)
    case end(of: SimulatedThread)
  }

  let number: Int
  let name: String
  let baton = Turnstile()
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

  /// Runs the body and lets go of all that it holds, so that nothing is torn down after the baton has gone on.
  func runBody() {
    body.take()?()
  }

  /// When it wakes by itself.
  var alarm: MonotonicInstant? {
    if case .bell(_, let instant)? = wait { instant } else { nil }
  }

  func join() {
    simulation.wait(forEndOf: self)
  }

  /// The simulation joins every thread in the end.
  func detach() {}
}

/// A bell of a simulation; its state is kept under the simulation's lock.
final class SimulatedBell: Bell, @unchecked Sendable {
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

/// What a loop sleeps in on a machine that has no descriptors to watch.
final class SimulatedPoller: Poller {
  private let bell: any Bell

  init(_ bell: any Bell) {
    self.bell = bell
  }

  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool) {}

  func unwatch(_ descriptor: Int32) {}

  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void) {
    bell.wait(until: instant)
  }

  func wake() {
    bell.ring()
  }
}
