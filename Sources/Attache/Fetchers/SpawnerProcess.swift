internal import Glibc
internal import Synchronization

/// The process of a ``FetcherParent``, which this process must wait for: otherwise it stays as a
/// zombie where the process with number 1 does not wait for others' children.
package final class SpawnerProcess: Sendable {
  private static let running = Mutex<[pid_t: SpawnerProcess]>([:])
  private static let endsAtExit: Void = { _ = atexit { SpawnerProcess.stopAll() } }()
  /// How long the process may take to end its children, in milliseconds.
  private static let longestEnd: Int32 = 3_000

  /// The connections that this object ends, that of the process first.
  private let sockets: [Int32]
  private let process: pid_t
  private let hasEnded = Mutex(false)
  private let isEnding = Atomic(false)
  /// Whether it may have children.
  private let hasChildren: Atomic<Bool>

  /// - Parameters:
  ///   - process: the number of the process; negative for none.
  ///   - sockets: the connections to it and to the process that it has started, if any, which this
  ///     object closes.
  init(_ process: pid_t, sockets: [Int32]) {
    (self.process, self.sockets) = (process, sockets)
    hasChildren = Atomic(sockets.count > 1)
    guard process > 0 else { return }
    Self.endsAtExit
    Self.running.withLock { $0[process] = self }
  }

  deinit {
    for socket in sockets { close(socket) }
  }

  var isStopped: Bool { isEnding.load(ordering: .relaxed) }

  /// Records that the process is about to start a child.
  func willHaveChildren() { hasChildren.store(true, ordering: .relaxed) }

  /// Ends the process and its children, and waits until they have ended, for at most 3 s. A process
  /// without children, which may still load its libraries, ends at once. May be called from any
  /// thread and more than once.
  func stop() {
    hasEnded.withLock { hasEnded in
      guard !hasEnded, process > 0 else { return }
      hasEnded = true
      isEnding.store(true, ordering: .relaxed)
      // The process reads the end of the connection, also when it was stopped, and closes its own.
      for socket in sockets { shutdown(socket, Int32(SHUT_WR)) }
      kill(process, hasChildren.load(ordering: .relaxed) ? SIGCONT : SIGKILL)
      var request = pollfd(fd: sockets[0], events: 0, revents: 0)
      let limit = MonotonicInstant.now.advanced(by: .milliseconds(Self.longestEnd))
      var count: Int32
      repeat { count = unsafe poll(&request, 1, limit.pollTimeout) } while count < 0 && errno == EINTR
      if count <= 0 { kill(process, SIGKILL) }
      while waitpid(process, nil, 0) < 0, errno == EINTR {}
      _ = Self.running.withLock { $0.removeValue(forKey: process) }
    }
  }

  /// Calls a function while the process cannot be stopped.
  ///
  /// - Returns: the function's result; nil if the process is stopped already.
  func whileRunning<Result: Sendable>(_ body: () -> Result) -> Result? {
    hasEnded.withLock { hasEnded in hasEnded ? nil : body() }
  }

  /// Stops every process that still runs. For a process that is about to leave by `_exit` or by a
  /// signal, and so does not stop them by itself.
  package static func stopAll() {
    for process in running.withLock({ Array($0.values) }) { process.stop() }
  }
}
