internal import Attache
internal import Glibc

/// A thread of a rehearsal's own: it waits in the system's calls, which Swift's threads must not.
enum CommandThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` on a thread of its own, with every signal blocked, and comes back with what it gives.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(SystemError) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SystemError>, Never>) in
      if let error = start({ continuation.resume(returning: .success(body())) }) { continuation.resume(returning: .failure(error)) }
    }
    return try result.get()
  }

  private static func start(_ body: @escaping @Sendable () -> Void) -> SystemError? {
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    var (all, previous) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { work in
        guard let work = unsafe work else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
      }, work)
    guard result == 0 else {
      unsafe Unmanaged<Work>.fromOpaque(work).release()
      return SystemError(call: "pthread_create", number: result)
    }
    pthread_detach(thread)
    return nil
  }
}
