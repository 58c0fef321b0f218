internal import Glibc

/// How a filter ends when nobody reads its output any more.
package enum BrokenPipe {
  /// Ends the process by SIGPIPE, whatever its disposition was and although our threads block every signal.
  package static func endProcess() {
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    signal(SIGPIPE, SIG_DFL)
    unsafe pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
    raise(SIGPIPE)
  }
}
