internal import Attache

/// A thread of a rehearsal's own: it waits in the system's calls, which Swift's threads must not.
enum RehearsalThread {
  /// Runs `body` on a thread of its own, with every signal blocked, and comes back with what it
  /// gives.
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

  /// Does what can fail on a thread of its own.
  ///
  /// - Parameter network: where; nil is this machine's.
  static func attempt<Value: Sendable>(
    in network: NetworkNamespace? = nil, _ body: @escaping @Sendable () throws(StageError) -> Value
  ) async -> Result<Value, StageError> {
    do throws(SystemError) {
      return try await run {
        Result { () throws(StageError) in
          try network?.enter()
          return try body()
        }
      }
    } catch {
      return .failure(.system(call: error.call, errno: error.number))
    }
  }
}
