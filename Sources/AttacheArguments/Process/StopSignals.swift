internal import Attache
internal import Glibc

/// SIGTERM, SIGINT and SIGHUP, the signals that ask a command to stop. A dedicated thread receives
/// them.
///
/// A signal that is ignored when the process starts stays ignored, as `nohup` and `command &` in a
/// shell script expect.
package enum StopSignals {
  package static let all = [SIGTERM, SIGINT, SIGHUP]

  /// Ends the process with status 75 at the first signal, until ``block()`` is called. For commands
  /// that may wait forever before that, for example while opening a pipe without a reader.
  package static func endProcess() {
    for signal in all where !isIgnored(signal) {
      Glibc.signal(signal) { _ in _exit(ExitStatus.temporaryFailure) }
    }
  }

  /// Blocks the signals in this thread and in all threads that it starts. Call it before any thread
  /// is started, and after every step that may wait forever, such as opening a pipe without a
  /// reader. Until then a signal ends the process, with status 75 after ``endProcess()``.
  package static func block() {
    var signals = set
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Calls the first action at the first signal, the second at the second, and so on. The first
  /// signal also ends waits for locks (``LockWaits``). One more
  /// signal ends the process at once with status 75, since the command may wait for something that
  /// never comes, such as a reader of its output. If the thread cannot be started, the process ends
  /// with status 70: it could not receive signals.
  ///
  /// - Parameter late: is called once if the process still runs 2 s after the first signal, and there
  ///   was no second one.
  package static func onEach(_ actions: (@Sendable () -> Void)..., late: (@Sendable () -> Void)? = nil) {
    let isStarted = CommandThread.start("signals") {
      var rest = actions[...]
      var late = late
      while true {
        var signals = set
        var patience = timespec(tv_sec: 2, tv_nsec: 0)
        let waits = late != nil && rest.count < actions.count
        guard unsafe (waits ? sigtimedwait(&signals, nil, &patience) : sigwaitinfo(&signals, nil)) > 0 else {
          if waits, errno == EAGAIN {
            late?()
            late = nil
          }
          continue
        }
        LockWaits.process.stop()
        guard let action = rest.popFirst() else {
          SpawnerProcess.stopAll()
          _exit(ExitStatus.temporaryFailure)
        }
        action()
      }
    }
    guard isStarted else {
      SpawnerProcess.stopAll()
      _exit(ExitStatus.software)
    }
  }

  /// Ends the process by the first signal, as the system does by default, once the processes that it
  /// has started have ended. Call ``block()`` before.
  package static func endAfterChildren() {
    CommandThread.start("signals") {
      var signals = set
      var signal: Int32 = 0
      while unsafe sigwait(&signals, &signal) != 0 {}
      SpawnerProcess.stopAll()
      Glibc.signal(signal, SIG_DFL)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(signal)
    }
  }

  /// Whether a signal is ignored. The parent process decides this at the start.
  package static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static var set: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in all where !isIgnored(signal) { unsafe sigaddset(&signals, signal) }
    return signals
  }
}
