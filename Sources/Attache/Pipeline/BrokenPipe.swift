internal import Glibc

/// How a filter ends when nobody reads its output any more.
package enum BrokenPipe {
  /// From now on a write to a pipe without a reader gives EPIPE, in this thread and in those that
  /// it starts: only standard output's reader ends the process when it goes (``endProcess()``), not
  /// that of standard error or of a report.
  package static func block() {
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, nil)
  }

  /// Ends the process by SIGPIPE, whatever its disposition was and although our threads block every
  /// signal.
  package static func endProcess() {
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    signal(SIGPIPE, SIG_DFL)
    unsafe pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
    raise(SIGPIPE)
  }
}
