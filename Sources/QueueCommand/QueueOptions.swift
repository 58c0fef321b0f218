public import ArgumentParser
import AttacheArguments
public import AttacheQueue

/// Which queue a command means.
struct QueueOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The queue: sqlite:PATH (a database) or dir:PATH (a folder of files).", valueName: "queue"))
  var queue: QueueLocation

  /// Opens the queue.
  ///
  /// - Throws: the exit status, once standard error has said what stands in the way.
  func open(creates: Bool, sync: SyncChoice = .group) throws -> any PayloadQueue {
    try orExit { () throws(QueueError) in try queue.open(creates: creates, sync: sync) }
  }
}

extension QueueLocation: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }
}

extension SyncChoice: ExpressibleByArgument {}

/// Runs what a queue may refuse; says why on standard error and throws the exit status.
func orExit<Value>(_ body: () throws(QueueError) -> Value) throws -> Value {
  do throws(QueueError) {
    return try body()
  } catch {
    ErrorOutput.write("attache: \(error)\n")
    switch error {
    case .unavailable: throw ExitCode(ExitStatus.unavailable)
    case .full, .failed: throw ExitCode(ExitStatus.inputOutput)
    }
  }
}
