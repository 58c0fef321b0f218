internal import Attache
internal import Glibc
internal import Synchronization

/// A running command in its own process group, led by its shell.
///
/// Only ``end()`` collects the leader, so that the kernel does not reuse the group's number before.
final class CommandGroup: Sendable {
  /// The process ID of the leader, which is also the group's ID.
  let leader: pid_t
  private let isCollected = Mutex(false)

  init(leader: pid_t) {
    self.leader = leader
  }

  /// Sends a signal to every process of the group.
  func send(_ signal: Int32) {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      kill(-leader, signal)
    }
  }

  /// Asks the command to end with SIGTERM. A shell that leads the group and waits for other
  /// processes gets no signal: it would end and hide its command's status.
  func ask() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      let processes = CommandProcess.all(in: leader)
      let others = processes.filter { $0.number != leader || !$0.isShell }
      for process in others.isEmpty ? processes : others { kill(process.number, SIGTERM) }
    }
  }

  /// The leader's exit; nil while it runs.
  var exit: CommandExit? {
    isCollected.withLock { isCollected in
      var information = unsafe siginfo_t()
      guard !isCollected, unsafe waitid(P_PID, id_t(leader), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return nil }
      let (number, status) = unsafe (information._sifields._sigchld.si_pid, information._sifields._sigchld.si_status)
      guard number == leader else { return nil }
      return unsafe information.si_code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
    }
  }

  /// Kills the remaining processes of the group and collects its leader.
  func end() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      kill(-leader, SIGKILL)
      while waitpid(leader, nil, 0) < 0, errno == EINTR {}
      isCollected = true
    }
  }

  /// Runs `body` while the command runs. If `body` fails or the task is cancelled, the group is
  /// killed.
  func whileRunning<Value: Sendable>(_ body: () async throws(SystemError) -> Value) async throws(SystemError) -> Value {
    let result = await withTaskCancellationHandler {
      do throws(SystemError) {
        return Result<Value, SystemError>.success(try await body())
      } catch {
        end()
        return .failure(error)
      }
    } onCancel: {
      send(SIGKILL)
    }
    return try result.get()
  }
}
