import Attache
import Foundation
import Glibc

/// A running program. It is killed with this object, and when the test that waits for it is
/// cancelled.
final class Program: Sendable {
  /// How a program ended.
  enum Exit: Hashable {
    case status(Int32)
    case signal(Int32)

    init(_ end: ProcessEnd) {
      switch end {
      case .status(let status): self = .status(status)
      case .signal(let signal): self = .signal(signal)
      }
    }
  }

  private let started: StartedProcess
  let input: ProgramInput
  let output: ProgramOutput
  let errors: ProgramOutput
  private let ending = Watched<Exit?>(nil)

  init(_ launch: Launch) throws {
    let (started, pipes) = try launch.start()
    self.started = started
    input = ProgramInput(pipes.input)
    output = ProgramOutput(pipes.output)
    errors = ProgramOutput(pipes.errors)
    Foundation.Thread.detachNewThread { [ending, folder = launch.folder] in
      let end = started.wait()
      ending.change { $0 = Exit(end) }
      withExtendedLifetime(folder) {}
    }
  }

  var process: pid_t { started.identifier }

  deinit {
    send(SIGKILL)
  }

  /// Sends a signal, unless the program has ended.
  func send(_ signal: Int32) {
    started.send(signal)
  }

  /// Waits for the end.
  func exit() async -> Exit {
    await patiently { await ending.wait { $0 != nil } }
    return ending.read { $0 } ?? .status(-1)
  }

  /// Waits for the end and for all output.
  func finished() async -> Run {
    let exit = await exit()
    return Run(exit: exit, output: await output.everything(), errors: String(decoding: await errors.everything(), as: UTF8.self))
  }

  /// Waits until this many whole lines were written to standard output, or until the program ends.
  func lines(_ count: Int) async -> [String] {
    await patiently { await output.wait { $0.lineFeeds >= count } }
    return output.lines
  }

  /// Waits until standard error contains the text, or ends.
  func errors(holding text: String) async -> String {
    await patiently { await errors.wait { String(decoding: $0.bytes, as: UTF8.self).contains(text) } }
    return String(decoding: errors.bytes, as: UTF8.self)
  }

  private func patiently(_ wait: () async -> Void) async {
    await withTaskCancellationHandler(operation: wait) { send(SIGKILL) }
  }
}
