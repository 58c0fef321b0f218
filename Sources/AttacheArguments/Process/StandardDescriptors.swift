internal import Attache
internal import Glibc

/// Standard input, output and error. Any of them may be closed at the start, for example after
/// `<&-`.
package enum StandardDescriptors {
  /// Makes the descriptors safe to use. Call it before anything else is opened or started: see
  /// ``takeClosed()`` and `BrokenPipe.block()`.
  ///
  /// From then on, a write beyond the limit on a file's size (`ulimit -f`) fails with EFBIG and is
  /// reported like a full disk. By default its signal ends the process. SIGCHLD gets its default,
  /// which a parent may have changed: while it is ignored, the status of a child is lost.
  package static func prepare() {
    takeClosed()
    BrokenPipe.block()
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGCHLD, SIG_DFL)
  }

  /// Opens `/dev/null` at the number of each closed descriptor. Otherwise one of our files or
  /// sockets could get that number, and lines would be written into it.
  ///
  /// Each is opened in the opposite direction, as glibc does for privileged programs: reading or
  /// writing still fails with EBADF.
  private static func takeClosed() {
    for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(number, F_GETFD) == -1 {
      // `open` returns the lowest free number, which is this one.
      _ = unsafe open("/dev/null", mode)
    }
  }
}
