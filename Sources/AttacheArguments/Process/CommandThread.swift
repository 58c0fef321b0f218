internal import Glibc

/// A thread of the command's own, for what waits as long as the process lives.
package enum CommandThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` on a thread; a system that gives none is complained about.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { work in
        guard let work = unsafe work else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
      }, work)
    if result != 0 { ErrorOutput.write("attache: no further thread: \(unsafe String(cString: strerror(result)))\n") }
  }
}
