internal import Attache
internal import Synchronization

/// How the calls of a queue's database wait for the locks of other processes.
final class BusyWait: Sendable {
  private let path: String
  private let waits: LockWaits
  private let state = Mutex<(wait: LockWait?, failure: String?)>((nil, nil))

  init(_ path: String, _ waits: LockWaits) {
    (self.path, self.waits) = (path, waits)
  }

  /// Pauses before SQLite's next attempt: its busy handler.
  ///
  /// - Parameter attempts: how many have failed, without the first.
  /// - Returns: false when the wait is over.
  func pause(_ attempts: Int) -> Bool {
    let wait = state.withLock { state in
      if attempts == 0 { state = (nil, nil) }
      let wait = state.wait ?? LockWait(waits, for: path)
      state.wait = wait
      return wait
    }
    // The locks of a database with a log are on the file that its processes share.
    if wait.pause({ [path] in LockHolder.description(ofLockOnAnyOf: [path + "-shm", path]) }) { return true }
    state.withLock { $0.failure = wait.failure }
    return false
  }

  /// Ends the wait, after a call.
  func end() {
    state.withLock { $0 = (nil, nil) }
  }

  /// Why a call has failed because of a lock.
  var error: QueueError {
    .locked(state.withLock(\.failure) ?? "\(path): another process has locked the queue; find it with `fuser \(path)`, and try again")
  }
}
