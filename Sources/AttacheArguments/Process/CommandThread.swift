internal import Glibc

/// A thread of the command's own, for what waits as long as the process lives.
package enum CommandThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` on a thread.
  ///
  /// - Returns: false when the system gives no thread, which standard error then says.
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
