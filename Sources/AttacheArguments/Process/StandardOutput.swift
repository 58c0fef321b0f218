internal import ArgumentParser
internal import Attache
internal import Glibc

/// Standard output, for the commands that print their results. The filter does not use it.
package enum StandardOutput {
  /// Writes the whole text.
  ///
  /// - Throws: the exit status of an output error, after the error is written to standard error.
  package static func write(_ text: String) throws {
    do throws(SystemError) {
      try WholeWrite.write(Array(text.utf8), to: STDOUT_FILENO, waits: false)
    } catch {
      if error.number == EPIPE { BrokenPipe.endProcess() }
      ErrorOutput.write("attache: standard output: \(SystemError.text(error.number))\n")
      throw ExitCode(ExitStatus.inputOutput)
    }
  }
}
