internal import Glibc

/// The end of a filter whose output is no longer read.
package enum BrokenPipe {
  /// Blocks SIGPIPE in this thread and in the threads that it starts, so that a write to a pipe
  /// without a reader fails with EPIPE. Only the loss of standard output's reader ends the process
  /// (``endProcess()``), not that of standard error's or a report's.
  package static func block() {
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, nil)
  }

  /// Ends the process by SIGPIPE, whatever its disposition was and although our threads block every
  /// signal.
  package static func endProcess() {
    SpawnerProcess.stopAll()
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    signal(SIGPIPE, SIG_DFL)
    unsafe pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
    raise(SIGPIPE)
  }
}
