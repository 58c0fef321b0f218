package import Attache
internal import Glibc
internal import Synchronization

/// A simulated machine: threads take turns, and time passes only while all of them wait.
///
/// One thread at a time has the baton and runs. The baton can pass on whenever a thread waits for a
/// wake signal or for another thread's end, rings, or starts a thread. A seeded generator picks the
/// next thread among those that can run, so the same seed gives the same interleaving. When no
/// thread can run, time jumps to the next instant that a thread waits for. When there is no such
/// instant, the simulation is over. Work takes no time.
///
/// A thread must not wait or ring under a lock that another thread takes. It must not wait for
/// anything outside the simulation except files and the type detector.
package final class Simulation: Machine {
  /// How a simulation ended.
  package enum Ending: Sendable, Hashable {
    /// The initial body returned.
    case finished
    /// The initial body did not return: no thread could run, or the threads ran without any time
    /// passing, or the horizon passed.
    case hung
  }

  /// The number of turns without time passing after which the simulation counts as hung.
  private static let maximumTurns = 2_000_000

  private let input: SimulatedInput?
  let state: Mutex<State>
  private let over = Semaphore()

  /// - Parameters:
  ///   - seed: the seed of the interleaving and of the engine's random numbers.
  ///   - start: the first instant.
  ///   - horizon: the simulated time after which a run that has not returned counts as hung.
  ///   - input: the input that readers wait for; nil for an input that is complete.
  ///   - atRest: called with the current time when no thread can run, before time passes. It must
  ///     not call the simulation.
  package init(
    seed: UInt64, start: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000), horizon: Duration = .seconds(86_400),
    input: SimulatedInput? = nil, atRest: @escaping @Sendable (MonotonicInstant) -> Void = { _ in }
  ) {
    self.input = input
    state = Mutex(
      State(
        now: start, generator: SeededGenerator(seed: seed), horizon: start.advanced(by: horizon), maximumTurns: Self.maximumTurns,
        atRest: atRest))
  }

  /// Runs `body` on a thread of the simulation and returns when no thread has work left. It can be
  /// called once, from outside the simulation.
  ///
  /// Threads that still wait then, for events that can no longer occur, are terminated where they
  /// are. What they hold is lost.
  ///
  /// - Throws: ``SystemError`` when the system cannot create a thread.
  package func run(_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Ending {
    let root = try make("main", body)
    state.withLock { $0.root = root }
    state.withLock { $0.pass() }?.baton.open()
    over.pass()
    let threads = state.withLock { $0.threads }
    for thread in threads where !thread.hasEnded { thread.baton.open() }
    for thread in threads { thread.thread?.join() }
    return root.hasEnded ? .finished : .hung
  }

  /// A number that changes with each turn and so identifies an interleaving.
  package var fingerprint: UInt64 {
    state.withLock { $0.fingerprint }
  }

  // MARK: Machine

  package var now: MonotonicInstant {
    state.withLock { $0.now }
  }

  /// One, so that a single engine counts what a scenario counts, such as the requests before an
  /// origin is left alone.
  package var processors: Int { 1 }

  package var randomFraction: Double {
    state.withLock { Double.random(in: 0...1, using: &$0.generator) }
  }

  package func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError)
    -> any StartedThread
  {
    let thread = try make(name, body)
    yield { _, _ in }
    return thread
  }

  package func makeWakeSignal() -> any WakeSignal {
    SimulatedWakeSignal(self)
  }

  package func makeInputGate() -> any InputGate {
    SimulatedInputGate(SimulatedWakeSignal(self), input)
  }

  package func makePoller() -> any Poller {
    SimulatedPoller(SimulatedWakeSignal(self), self)
  }

  package func makeStreams() -> (any ByteStream, any ByteStream) {
    let (one, other) = state.withLock { $0.makeStreams() }
    return (SimulatedStream(one, to: other, self), SimulatedStream(other, to: one, self))
  }

  // MARK: Turns

  func ring(_ wakeSignal: SimulatedWakeSignal) {
    yield { state, _ in state.ring(wakeSignal) }
  }

  func wait(for wakeSignal: SimulatedWakeSignal, until instant: MonotonicInstant?) {
    let isMember = yield { state, me in
      guard let me, !wakeSignal.isRung, instant.map({ $0 > state.now }) ?? true else { return }
      me.wait = .wakeSignal(wakeSignal, until: instant)
    }
    if isMember { state.withLock { _ in wakeSignal.isRung = false } }
  }

  func wait(forEndOf thread: SimulatedThread) {
    yield { _, me in
      if let me, !thread.hasEnded { me.wait = .end(of: thread) }
    }
  }

  /// Runs an action under the lock and passes the baton to the next thread, which can be the
  /// caller. A thread outside the simulation has no baton and continues immediately.
  ///
  /// - Returns: whether the caller is a thread of the simulation.
  @discardableResult
  private func yield(_ action: (inout State, SimulatedThread?) -> Void) -> Bool {
    let (me, next) = state.withLock { state in
      let me = state.running.flatMap { $0.handle == pthread_self() ? $0 : nil }
      action(&state, me)
      guard let me else { return (nil as SimulatedThread?, nil as SimulatedThread?) }
      state.park(me)
      return (me, state.pass())
    }
    if let me { handOver(from: me, to: next) }
    return me != nil
  }

  private func handOver(from me: SimulatedThread, to next: SimulatedThread?) {
    guard next !== me else { return }
    (next?.baton ?? over).open()
    takeBaton(me)
  }

  /// Waits for the baton. When the simulation is over, the thread exits here.
  private func takeBaton(_ me: SimulatedThread) {
    me.baton.pass()
    if state.withLock({ $0.isOver }) { pthread_exit(nil) }
  }

  private func make(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> SimulatedThread {
    let number = state.withLock { $0.threads.count }
    let thread = SimulatedThread(name, number: number, simulation: self, body: body)
    let system = try Attache.Thread.start(name) { [self] in
      takeBaton(thread)
      state.withLock { _ in thread.handle = pthread_self() }
      thread.runBody()
      (state.withLock { $0.end(thread) }?.baton ?? over).open()
    }
    state.withLock { state in
      thread.thread = system
      state.threads.append(thread)
      state.runnable.append(thread)
    }
    return thread
  }
}

extension Simulation {
  /// The running thread, the runnable threads, and the waiting threads.
  struct State: Sendable {
    var now: MonotonicInstant
    var generator: SeededGenerator
    let horizon: MonotonicInstant
    let maximumTurns: Int
    let atRest: @Sendable (MonotonicInstant) -> Void
    var fingerprint: UInt64 = 0
    var threads: [SimulatedThread] = []
    var runnable: [SimulatedThread] = []
    var waiting: [SimulatedThread] = []
    var running: SimulatedThread?
    var root: SimulatedThread?
    var isOver = false
    /// The open ends of streams, by descriptor.
    var streams: [Int32: SimulatedStream.Inbox] = [:]
    /// Far above the descriptors of the process.
    private var lastStream: Int32 = 1 << 30
    /// The number of turns since the time last changed.
    private var turns = 0

    init(
      now: MonotonicInstant, generator: SeededGenerator, horizon: MonotonicInstant, maximumTurns: Int,
      atRest: @escaping @Sendable (MonotonicInstant) -> Void
    ) {
      self.now = now
      self.generator = generator
      self.horizon = horizon
      self.maximumTurns = maximumTurns
      self.atRest = atRest
    }

    /// Adds a thread to the waiting or the runnable threads.
    mutating func park(_ thread: SimulatedThread) {
      if thread.wait == nil { runnable.append(thread) } else { waiting.append(thread) }
    }

    mutating func makeStreams() -> (Int32, Int32) {
      lastStream += 2
      (streams[lastStream - 1], streams[lastStream]) = (SimulatedStream.Inbox(), SimulatedStream.Inbox())
      return (lastStream - 1, lastStream)
    }

    mutating func wakeReader(of stream: Int32) {
      if let reader = streams[stream]?.reader { ring(reader) }
    }

    mutating func ring(_ wakeSignal: SimulatedWakeSignal) {
      wakeSignal.isRung = true
      wake { thread in
        if case .wakeSignal(wakeSignal, _)? = thread.wait { true } else { false }
      }
    }

    mutating func end(_ thread: SimulatedThread) -> SimulatedThread? {
      thread.hasEnded = true
      wake { waiter in
        if case .end(thread)? = waiter.wait { true } else { false }
      }
      return pass()
    }

    private mutating func wake(_ isMeant: (SimulatedThread) -> Bool) {
      let woken = waiting.filter(isMeant)
      guard !woken.isEmpty else { return }
      waiting.removeAll(where: isMeant)
      for thread in woken { thread.wait = nil }
      runnable += woken
    }

    /// Chooses the next thread to run.
    ///
    /// - Returns: the thread that gets the baton; nil when the simulation is over.
    mutating func pass() -> SimulatedThread? {
      running = nil
      turns += 1
      if runnable.isEmpty { jump() }
      guard !runnable.isEmpty, turns < maximumTurns else {
        isOver = true
        return nil
      }
      let next = runnable.remove(at: Int.random(in: runnable.indices, using: &generator))
      running = next
      fingerprint = (fingerprint ^ UInt64(next.number) ^ UInt64(bitPattern: now.nanoseconds)) &* 0x100_0000_01B3
      return next
    }

    /// Advances the time to the next instant that a thread waits for.
    private mutating func jump() {
      atRest(now)
      guard let earliest = waiting.compactMap(\.alarm).min(), earliest <= horizon else { return }
      now = max(now, earliest)
      // After the root has returned, the count of turns is no longer reset, so the remaining
      // threads share one limit.
      if root?.hasEnded != true { turns = 0 }
      wake { $0.alarm == earliest }
    }
  }
}

/// Returns whether both are the same object, for pattern matching.
private func ~= (pattern: SimulatedWakeSignal, value: SimulatedWakeSignal) -> Bool {
  pattern === value
}

private func ~= (pattern: SimulatedThread, value: SimulatedThread) -> Bool {
  pattern === value
}
