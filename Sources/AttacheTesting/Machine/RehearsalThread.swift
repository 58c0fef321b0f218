internal import Attache

/// A separate thread for a rehearsal. It can block in system calls, which Swift's threads must not
/// do.
enum RehearsalThread {
  /// Runs `body` on a new thread, with every signal blocked, and returns its result.
  ///
  /// - Throws: ``SystemError`` when no thread can be created.
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

  /// Runs a function that can fail on a new thread.
  ///
  /// - Parameter network: the network to enter; nil for this machine's network.
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
      return .failure(StageError(error))
    }
  }
}
