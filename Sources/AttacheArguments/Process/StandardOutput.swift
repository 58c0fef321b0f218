internal import ArgumentParser
internal import Attache
internal import Glibc

/// Standard output, for the commands that print what they found; the filter writes by itself.
package enum StandardOutput {
  /// Writes the text whole.
  ///
  /// - Throws: the status of an output error, once standard error has said what went wrong.
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
