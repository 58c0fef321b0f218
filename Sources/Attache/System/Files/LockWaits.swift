internal import Glibc
internal import Synchronization

/// The waits of a process for locks that other processes hold, and for a database server that is
/// away. The locks are those of files, of an SQLite database, and of a database server. A wait for a
/// lock has a limit, is reported with the holder of the lock, and ends when the process is asked to
/// stop.
package final class LockWaits: Sendable {
  /// The waits of this process.
  package static let process = LockWaits()
  /// How long a wait lasts before it is reported. Other attache processes hold a lock for
  /// milliseconds, so a longer wait has an unusual cause.
  package static let noticeDelay = Duration.seconds(2)
  /// The default of ``limit``. The longest work under a lock is the purge of a queue, which takes
  /// some seconds for each million payloads.
  package static let usualLimit = Duration.seconds(60)

  /// How long a wait may last. After ``stop()``, it may last for ``noticeDelay``, so that a process
  /// that stops still gets a lock that is only held for a moment. After such a wait has ended without
  /// the lock, a later one for the same lock lasts for a tenth of a second.
  package let limit: Duration
  private let clock: @Sendable () -> MonotonicInstant
  private let sleep: @Sendable (Duration) -> Void
  private let state = Mutex(State())

  private struct State {
    /// The sentences of the waits that were reported and go on, by the number of the wait.
    var reports: [UInt64: String] = [:]
    var count: UInt64 = 0
    var isStopped = false
    /// The locks whose waits have ended because the process stops.
    var givenUp: Set<String> = []
    var notify: (@Sendable (String) -> Void)?
  }

  /// - Parameters:
  ///   - clock: the monotonic clock.
  ///   - sleep: blocks the calling thread.
  package init(
    limit: Duration = LockWaits.usualLimit, clock: @escaping @Sendable () -> MonotonicInstant = { .now },
    sleep: @escaping @Sendable (Duration) -> Void = LockWaits.sleepThread
  ) {
    (self.limit, self.clock, self.sleep) = (limit, clock, sleep)
  }

  /// Sets the function that receives the sentence of each wait that lasts for ``noticeDelay``. It
  /// is called on the thread that waits.
  package func report(to notify: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.notify = notify }
  }

  /// Ends waits that have lasted for ``noticeDelay``, and later ones after that time, or sooner
  /// (``limit``). Safe from any thread.
  package func stop() {
    state.withLock { $0.isStopped = true }
  }

  /// How long a wait for a lock may last in a process that stops.
  func limitOfStop(_ lock: String) -> Duration {
    state.withLock { $0.givenUp.contains(lock) ? .milliseconds(100) : Self.noticeDelay }
  }

  func giveUp(_ lock: String) { _ = state.withLock { $0.givenUp.insert(lock) } }

  /// The sentence of a wait that was reported and goes on; nil when there is none.
  package var current: String? {
    state.withLock { state in state.reports.min { $0.key < $1.key }?.value }
  }

  package var now: MonotonicInstant { clock() }

  func pause(_ span: Duration) { sleep(span) }

  /// Returns the number of a wait that begins.
  package func begin() -> UInt64 {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  /// Reports a wait that goes on.
  package func report(_ sentence: String, of wait: UInt64) {
    state.withLock { state in
      state.reports[wait] = sentence
      return state.notify
    }?(sentence)
  }

  /// Reports something that is no wait.
  package func notify(_ sentence: String) { state.withLock(\.notify)?(sentence) }

  /// Records that a wait is over.
  package func end(_ wait: UInt64) {
    _ = state.withLock { $0.reports.removeValue(forKey: wait) }
  }

  /// Whether the process is asked to stop: by ``stop()``, or by a signal that no thread has
  /// received yet, because the command is still starting and has blocked its signals.
  var isStopped: Bool {
    if state.withLock(\.isStopped) { return true }
    var pending = sigset_t()
    guard unsafe sigpending(&pending) == 0 else { return false }
    return [SIGTERM, SIGINT, SIGHUP].contains { unsafe sigismember(&pending, $0) == 1 }
  }

  package static func sleepThread(_ span: Duration) {
    let nanoseconds = span.nanoseconds
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    // A signal may end it early.
    unsafe nanosleep(&time, nil)
  }
}

/// One wait for a lock. It ends when this object is released.
package final class LockWait: Sendable {
  private let waits: LockWaits
  private let lock: String
  private let number: UInt64
  private let start: MonotonicInstant
  private let limit: Duration
  private let state = Mutex(State())

  private struct State {
    var holder: String?
    var isReported = false
    var pause = Duration.microseconds(50)
    var failure = ""
  }

  /// The longest pause between two attempts.
  private static let longestPause = Duration.milliseconds(20)

  /// - Parameters:
  ///   - lock: what is locked, such as a path.
  ///   - start: when the wait began; now when nil.
  ///   - limit: how long it may last; ``LockWaits/limit`` when nil.
  package init(_ waits: LockWaits, for lock: String, since start: MonotonicInstant? = nil, limit: Duration? = nil) {
    (self.waits, self.lock, number) = (waits, lock, waits.begin())
    (self.start, self.limit) = (start ?? waits.now, limit ?? waits.limit)
  }

  deinit {
    waits.end(number)
  }

  /// Pauses before the next attempt to take the lock: first for 50 µs, then each time for twice as
  /// long, up to 20 ms.
  ///
  /// - Parameter holder: returns who holds the lock, such as `process 7 (cat, user x)`; nil when that
  ///   is unknown. Called once, after ``LockWaits/noticeDelay`` or at the end of a shorter wait.
  /// - Returns: false when the wait is over (``failure``).
  package func pause(_ holder: () -> String?) -> Bool {
    guard goesOn(holder) else { return false }
    waits.pause(
      state.withLock { state in
        defer { state.pause = min(state.pause * 2, Self.longestPause) }
        return state.pause
      })
    return true
  }

  /// The same without a pause.
  package func goesOn(_ holder: () -> String?) -> Bool {
    let elapsed = start.duration(to: waits.now)
    let isStopped = waits.isStopped
    if elapsed >= LockWaits.noticeDelay, !state.withLock(\.isReported) {
      let found = holder()
      let text = state.withLock { state in
        (state.holder, state.isReported) = (found, true)
        return sentence(state)
      }
      waits.report(text, of: number)
    }
    guard elapsed >= (isStopped ? min(limit, waits.limitOfStop(lock)) : limit) else { return true }
    if isStopped { waits.giveUp(lock) }
    let found = state.withLock(\.isReported) ? nil : holder()
    state.withLock { state in
      state.holder = state.holder ?? found
      state.failure =
        isStopped
        ? "told to stop while \(sentence(state))"
        : "\(state.holder ?? "another process") has held the lock of \(lock) for \(elapsed.components.seconds) s; end it, or try again later"
    }
    return false
  }

  /// Why the wait is over, in a sentence that names the holder and says what to do.
  package var failure: String { state.withLock(\.failure) }

  private func sentence(_ state: State) -> String {
    "waiting for the lock of \(lock), which \(state.holder ?? "another process") holds"
  }
}
