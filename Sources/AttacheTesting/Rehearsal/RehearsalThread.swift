internal import Attache

/// A thread of a rehearsal's own: it waits in the system's calls, which Swift's threads must not.
enum RehearsalThread {
  /// Runs `body` on a thread of its own, with every signal blocked, and comes back with what it gives.
  ///
  /// - Throws: ``SystemError`` when there is no thread to be had.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(SystemError) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SystemError>, Never>) in
      do throws(SystemError) {
        try SystemMachine().start("rehearse") { continuation.resume(returning: .success(body())) }.detach()
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  /// Plays a scenario on a thread of its own.
  static func play(_ body: @escaping @Sendable () throws(StageError) -> Evidence) async -> Result<Evidence, StageError> {
    do throws(SystemError) {
      return try await run { Result(catching: body) }
    } catch {
      return .failure(.system(call: error.call, errno: error.number))
    }
  }
}
