internal import Attache
internal import Glibc

/// Standard input, output and error, any of which may be closed at the start, as after `<&-`.
package enum StandardDescriptors {
  /// Makes them safe to use, before anything else is opened or started: see ``takeClosed()`` and
  /// `BrokenPipe.block()`.
  ///
  /// A write beyond the limit on a file's size (`ulimit -f`) fails with EFBIG from now on, and is
  /// told like a full disk: by default its signal ends the process.
  package static func prepare() {
    takeClosed()
    BrokenPipe.block()
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Takes the number of each that is closed, so that no file or socket of ours comes to stand
  /// there: lines would be written into it.
  ///
  /// What is put there is open the other way round, as glibc does for privileged programs: reading,
  /// or writing, says EBADF as before.
  private static func takeClosed() {
    for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(number, F_GETFD) == -1 {
      // The lowest free number, which is this one.
      _ = unsafe open("/dev/null", mode)
    }
  }
}
