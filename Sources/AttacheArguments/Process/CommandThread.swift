internal import Attache
internal import Glibc

/// Threads that the command starts for work that lasts as long as the process.
package enum CommandThread {
  /// Runs `body` on a new thread.
  ///
  /// - Returns: false when the system cannot create a thread; the error is then written to standard
  ///   error.
  @discardableResult
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    do throws(SystemError) {
      try Thread.start(name, .usual, body).detach()
      return true
    } catch {
      ErrorOutput.write("attache: cannot start a thread: \(SystemError.text(error.number, of: error.call))\n")
      return false
    }
  }

  /// Ends the process with a message when it cannot have as many threads at once as its libraries
  /// need. They would trap, or wait without end.
  ///
  /// - Parameter least: the number of threads.
  package static func require(_ least: Int) {
    var gate: [Int32] = [-1, -1]
    guard unsafe pipe(&gate) == 0 else { return }
    let (entrance, other) = (gate[0], gate[1])
    var threads: [Thread] = []
    var failure: SystemError?
    do throws(SystemError) {
      for _ in 0..<least {
        threads.append(
          try Thread.start("probe") {
            var byte: UInt8 = 0
            _ = unsafe read(entrance, &byte, 1)
          })
      }
    } catch {
      failure = error
    }
    close(other)
    for thread in threads { thread.join() }
    close(entrance)
    guard let failure else { return }
    ErrorOutput.write("attache: this command needs \(least) threads: \(failure)\n")
    exit(ExitStatus.software)
  }
}
