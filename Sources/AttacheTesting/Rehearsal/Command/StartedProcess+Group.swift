internal import Attache
internal import Glibc

/// A command, which leads its process group.
extension StartedProcess {
  /// Asks the command to end with SIGTERM. A shell that leads the group and waits for other
  /// processes gets no signal: it would end and hide its command's status.
  func ask() {
    let processes = CommandProcess.all(in: identifier)
    let others = processes.filter { $0.number != identifier || !$0.isShell }
    for process in others.isEmpty ? processes : others { kill(process.number, SIGTERM) }
  }

  /// Kills the remaining processes of the group and waits for the command's end.
  func finish() {
    send(SIGKILL)
    wait()
  }
}
