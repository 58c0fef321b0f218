internal import Attache
internal import Glibc

extension ProcessLaunch {
  /// A shell command to start, with pipes as its standard descriptors.
  static func shell(_ command: String, environment: [String: String]) -> ProcessLaunch {
    var launch = ProcessLaunch(["sh", "-c", command], program: "/bin/sh")
    launch.environment = environment
    return launch
  }

  /// Runs the process to its end. No process of its group is left afterwards.
  ///
  /// - Parameters:
  ///   - network: the network in which it starts; nil for this machine's network.
  ///   - follow: writes its input and reads its output, on a thread. A cancelled task kills the
  ///     group.
  func run<Value: Sendable>(
    in network: NetworkNamespace?, _ follow: @escaping @Sendable (StartedProcess, Pipes) -> Value
  ) async throws(StageError) -> Value {
    let (group, pipes) = try await RehearsalThread.attempt(in: network) { () throws(StageError) in try started() }.get()
    let result = await withTaskCancellationHandler {
      await RehearsalThread.attempt { () throws(StageError) in follow(group, pipes) }
    } onCancel: {
      group.send(SIGKILL)
    }
    group.finish()
    // No thread was started, so nothing has closed the pipes.
    if case .failure = result {
      for end in [pipes.input, pipes.output, pipes.errors] where end >= 0 { close(end) }
    }
    return try result.get()
  }

  private func started() throws(StageError) -> (StartedProcess, Pipes) {
    do throws(SystemError) {
      return try start()
    } catch {
      throw .system(call: error.call == program ? "posix_spawn \(program)" : error.call, errno: error.number)
    }
  }
}
