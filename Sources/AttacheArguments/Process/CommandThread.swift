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
}
