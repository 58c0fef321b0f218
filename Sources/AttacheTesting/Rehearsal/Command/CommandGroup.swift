internal import Attache
internal import Glibc
internal import Synchronization

/// A command under way: a process group of its own, led by its shell.
///
/// The leader is collected by ``end()`` alone, so that the group's number stands for nobody else
/// until then.
final class CommandGroup: Sendable {
  /// The leader's number, which is the group's.
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

  /// Asks the command to end, by SIGTERM. A shell that leads it and waits for others is left out:
  /// it would end, and take its command's status with it.
  func ask() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      let processes = CommandProcess.all(in: leader)
      let others = processes.filter { $0.number != leader || !$0.isShell }
      for process in others.isEmpty ? processes : others { kill(process.number, SIGTERM) }
    }
  }

  /// How the leader ended; nil while it lives.
  var exit: CommandExit? {
    isCollected.withLock { isCollected in
      var information = unsafe siginfo_t()
      guard !isCollected, unsafe waitid(P_PID, id_t(leader), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return nil }
      let (number, status) = unsafe (information._sifields._sigchld.si_pid, information._sifields._sigchld.si_status)
      guard number == leader else { return nil }
      return unsafe information.si_code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
    }
  }

  /// Kills what is left of the group and collects its leader.
  func end() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      kill(-leader, SIGKILL)
      while waitpid(leader, nil, 0) < 0, errno == EINTR {}
      isCollected = true
    }
  }

  /// Does what lasts as long as the command runs; the group outlives neither a failure nor the
  /// task's cancellation.
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
