internal import Glibc

/// Threads that the command starts for work that lasts as long as the process.
package enum CommandThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` on a new thread.
  ///
  /// - Returns: false when the system cannot create a thread; the error is then written to standard
  ///   error.
  @discardableResult
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { work in
        guard let work = unsafe work else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
      }, work)
    guard result != 0 else {
      pthread_detach(thread)
      return true
    }
    unsafe Unmanaged<Work>.fromOpaque(work).release()
    ErrorOutput.write("attache: no further thread: \(unsafe String(cString: strerror(result)))\n")
    return false
  }
}
