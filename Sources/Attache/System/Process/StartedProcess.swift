internal import Glibc
internal import Synchronization

/// How a process ended.
package enum ProcessEnd: Hashable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// A child process, which any thread may signal. Until it is collected, the kernel gives its number
/// to no other process or group, unless this process ignores SIGCHLD.
package final class StartedProcess: Sendable {
  package let identifier: Int32
  private let leadsGroup: Bool
  /// Nil until the process is collected.
  private let collected = Mutex<ProcessEnd?>(nil)

  init(_ identifier: Int32, leadsGroup: Bool) {
    self.identifier = identifier
    self.leadsGroup = leadsGroup
  }

  /// Sends a signal to the process, and to its group if it leads one.
  ///
  /// - Returns: false when the system refuses, for example because the program runs as another
  ///   user.
  @discardableResult
  package func send(_ signal: Int32) -> Bool {
    unlessCollected { kill(leadsGroup ? -identifier : identifier, signal) == 0 || errno == ESRCH } ?? true
  }

  /// Returns the result of `body`, during which the process is not collected; nil if it is already.
  package func unlessCollected<Value>(_ body: () -> Value) -> Value? {
    collected.withLock { $0 == nil ? body() : nil }
  }

  /// How it ended; nil while it runs, or if its status is lost. It is not collected.
  package var end: ProcessEnd? {
    collected.withLock { $0 ?? wait(WNOHANG) }
  }

  /// Collects the process if it has ended.
  ///
  /// - Returns: how it ended; nil while it runs.
  @discardableResult
  package func collect(waits: Bool = false) -> ProcessEnd? {
    // The wait is outside the lock, so that other threads can send signals meanwhile.
    if waits, unlessCollected({}) != nil { _ = wait(0) }
    return collected.withLock { collected in
      if let collected { return collected }
      var status: Int32 = 0
      let child = unsafe waitpid(identifier, &status, WNOHANG)
      if child == 0 { return nil }
      // Other code that waits for any child of this process may have taken the status. It is not
      // known then, so the process does not count as successful.
      if child < 0 { status = SIGKILL }
      collected = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
      return collected
    }
  }

  /// Returns how the process ended, without collecting it; nil if its status is lost or, with
  /// `WNOHANG`, while it runs.
  private func wait(_ options: Int32) -> ProcessEnd? {
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | options) != 0 {
      guard errno == EINTR else { return nil }
    }
    let (number, status) = unsafe (information._sifields._sigchld.si_pid, information._sifields._sigchld.si_status)
    guard number == identifier else { return nil }
    return unsafe information.si_code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
  }
}
