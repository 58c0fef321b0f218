import Foundation
import Glibc

/// A program under way. It is killed with this object, and when the test that waits for it is
/// cancelled.
final class Program: Sendable {
  /// How a program ended.
  enum Exit: Hashable {
    case status(Int32)
    case signal(Int32)
  }

  let process: pid_t
  let input: ProgramInput
  let output: ProgramOutput
  let errors: ProgramOutput
  private let ending = Watched<Exit?>(nil)

  init(_ launch: Launch) throws {
    let (process, ends) = try launch.start()
    self.process = process
    input = ProgramInput(ends[0])
    output = ProgramOutput(ends[1])
    errors = ProgramOutput(ends[2])
    Thread.detachNewThread { [ending, folder = launch.folder] in
      Self.await(process, ending)
      withExtendedLifetime(folder) {}
    }
  }

  deinit {
    send(SIGKILL)
  }

  /// Sends a signal, unless the program has ended.
  func send(_ signal: Int32) {
    ending.change { exit in
      if exit == nil { kill(process, signal) }
    }
  }

  /// Waits for the end.
  func exit() async -> Exit {
    await patiently { await ending.wait { $0 != nil } }
    return ending.read { $0 } ?? .status(-1)
  }

  /// Waits for the end, and for what was written until then.
  func finished() async -> Run {
    let exit = await exit()
    return Run(exit: exit, output: await output.everything(), errors: String(decoding: await errors.everything(), as: UTF8.self))
  }

  /// Waits until so many whole lines were written to standard output; fewer when it ends before.
  func lines(_ count: Int) async -> [String] {
    await patiently { await output.wait { $0.lineFeeds >= count } }
    return output.lines
  }

  /// Waits until standard error holds the text, or ends.
  func errors(holding text: String) async -> String {
    await patiently { await errors.wait { String(decoding: $0.bytes, as: UTF8.self).contains(text) } }
    return String(decoding: errors.bytes, as: UTF8.self)
  }

  private func patiently(_ wait: () async -> Void) async {
    await withTaskCancellationHandler(operation: wait) { send(SIGKILL) }
  }

  private static func await(_ process: pid_t, _ ending: Watched<Exit?>) {
    // The process is left to be collected until nobody can send it a signal any more: its number is
    // not used again before.
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    ending.change { exit in
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
      exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }
  }
}
