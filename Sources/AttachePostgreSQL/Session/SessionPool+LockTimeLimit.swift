internal import Attache
internal import AttacheQueue

extension SessionPool {
  /// How long a call is repeated while another session holds a lock that it needs: as long as it
  /// would wait for a server.
  final class LockTimeLimit {
    private let pool: SessionPool
    private let start = MonotonicInstant.now
    private var wait: LockWait?

    init(_ pool: SessionPool) {
      self.pool = pool
    }

    /// - Parameter holder: the session that holds the lock.
    /// - Throws: ``QueueError/locked(_:)`` when the wait is over.
    func check(_ holder: String) throws(QueueError) {
      guard isOver(holder), let wait else { return }
      throw .locked(wait.failure)
    }

    /// Whether the wait for that session is over: by the limit, or because the process is asked to stop.
    func isOver(_ holder: String) -> Bool {
      let wait = wait ?? LockWait(pool.waits, for: pool.name, since: start, limit: pool.timeLimit)
      self.wait = wait
      return !wait.goesOn { holder }
    }

    /// Ends the wait, because the call has failed for another reason.
    func end() {
      wait = nil
    }
  }
}
