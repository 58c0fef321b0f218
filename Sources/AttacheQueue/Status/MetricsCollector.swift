package import Attache
package import AttacheMetrics
internal import Synchronization

/// Reads the status of the queue and of the fetchers every few seconds on its own thread, so that
/// requests for metrics put no load on either.
package final class MetricsCollector: MetricsPages {
  /// Asks a fetcher for the state of its origins. A healthy fetcher answers on its own thread.
  package typealias Pulse = @Sendable (_ answer: @escaping @Sendable (BreakerStates) -> Void) -> Void

  private struct State {
    /// Nil while the queue is being opened.
    var queue: (any QueueAdministration)?
    var pulses: [Pulse]
    var counts: QueueCounts?
    var load = QueueLoad()
    var failure: QueueError?
    /// When the queue was asked; nil when it has answered.
    var askedQueue: MonotonicInstant?
    /// By fetcher.
    var breakers: [BreakerStates]
    /// When each fetcher was asked; nil when it has answered.
    var askedFetchers: [MonotonicInstant?]
    var isDraining = false
    var isStopped = false
  }

  /// How long an answer may take, and a commit may wait.
  package static let timeLimit = Duration.seconds(10)

  private let metrics: any MetricsSource
  private let waits: LockWaits
  private let machine: any Machine
  private let interval: Duration
  private let version: String
  private let wakeSignal: any WakeSignal
  private let state: Mutex<State>
  private let thread = Mutex<(any StartedThread)?>(nil)

  /// - Parameters:
  ///   - queue: nil while it is being opened (``use(_:pulses:)``).
  ///   - interval: the time between two reads of the queue.
  ///   - version: the version of attache.
  ///   - pulses: one for each fetcher (``MediaFetcher/pulse(_:)``).
  ///   - waits: the process's waits for locks. While one is longer than usual, the process is not
  ///     ready.
  /// - Throws: ``SystemError`` when no descriptor is available.
  package init(
    _ queue: (any QueueAdministration)?, _ metrics: any MetricsSource, interval: Duration = .seconds(5), version: String,
    machine: any Machine = SystemMachine(), pulses: [Pulse] = [], waits: LockWaits = .process
  ) throws(SystemError) {
    (self.metrics, self.machine) = (metrics, machine)
    (self.interval, self.version, self.waits) = (interval, version, waits)
    state = Mutex(
      State(queue: queue, pulses: pulses, breakers: pulses.map { _ in BreakerStates() }, askedFetchers: pulses.map { _ in nil }))
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Sets the queue, after it was opened, and the functions that ask its fetchers. Call it before
  /// ``start(afterLook:)``.
  package func use(_ queue: any QueueAdministration, pulses: [Pulse]) {
    state.withLock { state in
      (state.queue, state.pulses) = (queue, pulses)
      (state.breakers, state.askedFetchers) = (pulses.map { _ in BreakerStates() }, pulses.map { _ in nil })
    }
  }

  /// Starts the thread.
  ///
  /// - Parameter afterLook: called after each read.
  package func start(afterLook: @escaping @Sendable () -> Void = {}) throws(SystemError) {
    let thread = try machine.start("metrics") { [self] in
      while !state.withLock({ $0.isStopped }) {
        look()
        afterLook()
        let next = machine.now.advanced(by: interval)
        while !state.withLock({ $0.isStopped }), machine.now < next { wakeSignal.wait(until: next) }
      }
    }
    self.thread.withLock { $0 = thread }
  }

  /// Ends the thread and waits for the current read. Call it before the queue is closed.
  package func stop() {
    state.withLock { $0.isStopped = true }
    wakeSignal.ring()
    thread.withLock { $0.take() }?.join()
  }

  /// Records that the worker claims nothing any more.
  package func drain() {
    state.withLock { $0.isDraining = true }
  }

  /// Reads the status of the fetchers and of the queue.
  package func look() {
    let (queue, pulses) = state.withLock { ($0.queue, $0.pulses) }
    guard let queue else { return }
    for (index, pulse) in pulses.enumerated() {
      let asks = state.withLock { state in
        guard state.askedFetchers[index] == nil else { return false }
        state.askedFetchers[index] = machine.now
        return true
      }
      guard asks else { continue }
      pulse { [self] breakers in
        state.withLock { state in
          state.breakers[index] = breakers
          state.askedFetchers[index] = nil
        }
      }
    }
    state.withLock { $0.askedQueue = machine.now }
    let answer = Result { () throws(QueueError) in (counts: try queue.counts(), load: try queue.load()) }
    state.withLock { state in
      state.askedQueue = nil
      switch answer {
      case .success(let answer): (state.counts, state.load, state.failure) = (answer.counts, answer.load, nil)
      case .failure(let error): (state.counts, state.failure) = (nil, error)
      }
    }
  }

  /// Whether the process makes progress. If it does not, restart it.
  package var liveness: ProcessHealth {
    let asked = state.withLock { $0.askedFetchers.compactMap(\.self).min() }
    return silence(since: asked).map { .bad("a fetcher's event loop has not run for \($0) s") } ?? .good
  }

  /// Whether the worker processes the queue.
  package var readiness: ProcessHealth {
    let state = state.withLock { $0 }
    if state.isDraining { return .bad("draining: no more payloads are claimed") }
    if let trouble = trouble(state) { return .bad(trouble) }
    if let pause = metrics.pause { return .bad("paused: \(pause)") }
    if let wait = state.load.replication?.longestWait, wait > Self.timeLimit {
      return .bad("a commit has waited for a synchronous standby for \(wait.components.seconds) s")
    }
    return state.counts == nil
      ? .bad(state.queue == nil ? "starting: the queue is being opened" : "starting: the queue has not answered yet") : .good
  }

  /// Why the queue does not answer; nil if it does, or was not asked yet.
  private func trouble(_ state: State) -> String? {
    if let wait = waits.current { return wait.onOneLine }
    if let failure = state.failure { return "the queue fails: \(failure)" }
    return silence(since: state.askedQueue).map { "the queue has not answered for \($0) s" }
  }

  /// Returns the whole seconds since `asked`, once they exceed ``timeLimit``.
  private func silence(since asked: MonotonicInstant?) -> Int64? {
    guard let asked, asked.duration(to: machine.now) > Self.timeLimit else { return nil }
    return asked.duration(to: machine.now).components.seconds
  }

  /// All metrics, in Prometheus' text format.
  package var text: String {
    var text = MetricsText()
    ProcessMetrics.write(version: version, to: &text)
    metrics.write(to: &text)
    let state = state.withLock { $0 }
    text.family("attache_origins", .gauge, "Origins with recent failures, by the state of their circuit breaker.")
    for (name, count) in [("closed", \BreakerStates.closed), ("open", \.open), ("probing", \.probing)] {
      text.sample(state.breakers.reduce(0) { $0 + $1[keyPath: count] }, ["breaker": name])
    }
    let counts = trouble(state) == nil ? state.counts : nil
    text.gauge("attache_queue_up", "Whether the queue answers. If it does not, its other gauges are left out.", counts == nil ? 0 : 1)
    if let counts {
      Self.write(counts, to: &text)
      state.load.write(to: &text)
    }
    return text.text
  }

  private static func write(_ counts: QueueCounts, to text: inout MetricsText) {
    text.family("attache_queue_payloads", .gauge, "Payloads in the queue, by state; waiting ones are not due yet.")
    for state in PayloadState.allCases { text.sample(counts[state], ["state": state.rawValue]) }
    text.family("attache_queue_paused", .gauge, "Whether an operator has paused the stage (attache pause).")
    for stage in PayloadEvent.Stage.allCases {
      text.sample(counts.pauses.contains { $0.stage == stage } ? 1 : 0, ["stage": stage.name])
    }
    text.gauge("attache_queue_unread_results", "Results in the queue that were neither delivered nor read.", Double(counts.unread))
    text.gauge("attache_queue_results_in_delivery", "Undelivered results that deliverers have leased.", Double(counts.delivering))
    text.family(
      "attache_queue_oldest_age_seconds", .gauge,
      "How long the oldest payload of a state has been in the queue; 0 when there is none. done: of all undelivered results.")
    for state in PayloadSearch.agingStates {
      text.sample((counts.oldest[state] ?? .zero) / .seconds(1), ["state": state.rawValue])
    }
  }
}
