internal import ArgumentParser
internal import Attache
internal import Glibc

/// Standard output, for the commands that print their results. The filter does not use it.
package enum StandardOutput {
  /// Writes the whole text.
  ///
  /// - Throws: the exit status of an output error, after the error is written to standard error.
  package static func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if written < 0, errno != EINTR {
        if errno == EPIPE { BrokenPipe.endProcess() }
        ErrorOutput.write("attache: standard output: \(unsafe String(cString: strerror(errno)))\n")
        throw ExitCode(ExitStatus.inputOutput)
      }
      rest = rest.dropFirst(max(0, written))
    }
  }
}
