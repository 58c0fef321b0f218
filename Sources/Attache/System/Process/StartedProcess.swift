internal import Glibc

/// How a process ended.
package enum ProcessEnd: Hashable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// A child process, which any thread may signal or wait for. It is collected when this object is
/// released, so the kernel gives its number to no other process or group before that, unless this
/// process ignores SIGCHLD.
package final class StartedProcess: Sendable {
  package let identifier: Int32
  private let leadsGroup: Bool

  init(_ identifier: Int32, leadsGroup: Bool) {
    self.identifier = identifier
    self.leadsGroup = leadsGroup
  }

  deinit {
    waitpid(identifier, nil, WNOHANG)
  }

  /// Sends a signal to the process, and to its group if it leads one.
  ///
  /// - Returns: false when the system refuses, for example because the program runs as another
  ///   user.
  @discardableResult
  package func send(_ signal: Int32) -> Bool {
    kill(leadsGroup ? -identifier : identifier, signal) == 0 || errno == ESRCH
  }

  /// Makes the process yield to others, its parent among them, when there are too few cores. What it
  /// starts later yields, too.
  ///
  /// - Parameter steps: how much less of a core it gets; see nice(2).
  package func yield(_ steps: Int32) {
    // The value may be -1, and an error only means that the process has ended.
    let which = __priority_which_t(PRIO_PROCESS.rawValue)
    setpriority(which, id_t(identifier), min(19, getpriority(which, 0) + steps))
  }

  /// Kills processes that lead sessions, and every process of these sessions: programs that they have
  /// started may have left their process groups.
  package static func endSessions(of leaders: [StartedProcess]) {
    for leader in leaders { leader.send(SIGKILL) }
    let sessions = Set(leaders.map { Array("\($0.identifier)".utf8) })
    // A process that is about to start another one has ended by the next look.
    for _ in 0..<4 {
      let others = Self.processes(in: sessions)
      guard !others.isEmpty else { return }
      for other in others { kill(other, SIGKILL) }
    }
  }

  /// Returns the processes of the sessions, without their leaders and without zombies.
  private static func processes(in sessions: Set<[UInt8]>) -> [Int32] {
    let folder = unsafe open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, let names = try? FolderListing.names(closing: folder) else { return [] }
    return names.compactMap { name -> Int32? in
      guard let number = Int32(String(decoding: name, as: UTF8.self)),
        let stat = try? SmallFile.read("/proc/\(number)/stat", maximum: 4_096), let end = stat.lastIndex(of: UInt8(ascii: ")"))
      else { return nil }
      // After the name: the state, the parent, the process group and the session (proc_pid_stat(5)).
      let fields = stat[stat.index(after: end)...].split(separator: UInt8(ascii: " "))
      guard fields.count > 3, sessions.contains(Array(fields[3])), !sessions.contains(Array(name)), !fields[0].elementsEqual("Z".utf8)
      else { return nil }
      return number
    }
  }

  /// How it ended; nil while it runs.
  package var end: ProcessEnd? {
    look(WNOHANG)
  }

  /// Waits until it ends.
  ///
  /// - Returns: how it ended.
  @discardableResult
  package func wait() -> ProcessEnd {
    look(0) ?? .signal(SIGKILL)
  }

  /// Returns how the process ended, without collecting it; nil while it runs, with `WNOHANG`.
  private func look(_ options: Int32) -> ProcessEnd? {
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | options) != 0 {
      // Other code that waits for any child of this process may have taken the status. It is not
      // known then, so the process does not count as successful.
      guard errno == EINTR else { return .signal(SIGKILL) }
    }
    let (number, status) = unsafe (information._sifields._sigchld.si_pid, information._sifields._sigchld.si_status)
    guard number == identifier else { return nil }
    return unsafe information.si_code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
  }
}
