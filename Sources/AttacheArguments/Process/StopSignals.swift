internal import Glibc

/// SIGTERM and SIGINT, taken by a thread of their own: what they start is no signal handler's business.
package enum StopSignals {
  /// Blocks both signals in this thread and in all that it starts; to be called before any thread is started.
  package static func block() {
    var signals = set
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Calls `stop` at each signal with its number, counted from 1, for as long as the process lives.
  package static func onEach(_ stop: @escaping @Sendable (Int) -> Void) {
    CommandThread.start {
      var count = 0
      while true {
        var signals = set
        var signal: Int32 = 0
        guard unsafe sigwait(&signals, &signal) == 0 else { continue }
        count += 1
        stop(count)
      }
    }
  }

  private static var set: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    return signals
  }
}
