public import ArgumentParser
import Attache
import AttacheArguments
public import AttacheQueue
import Logging
import Synchronization

/// The flag that selects the queue of a command.
struct QueueOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The queue: sqlite:PATH (a database) or dir:PATH (a folder with an inbox and an outbox).", valueName: "queue"))
  var queue: QueueLocation

  /// Opens the queue.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func open(creates: Bool, sync: SyncChoice = .group, _ log: Logger = LogFormat.text.logger()) throws -> any PayloadQueue {
    try queue.open(creates: creates, sync: sync, log)
  }
}

extension QueueLocation {
  /// Opens the queue and keeps it in memory until the process ends, open or closed.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func open(creates: Bool, sync: SyncChoice, _ log: Logger) throws -> any PayloadQueue {
    // A database that fails to open is released at once, which waits for a thread (see `kept`).
    // Check first that the system can start one.
    guard CommandThread.start("probe", {}) else { throw ExitCode(ExitStatus.software) }
    let opened = try orExit(log) { () throws(QueueError) in try open(creates: creates, sync: sync, notice: { log.notice("\($0)") }) }
    Self.kept.withLock { $0.append(opened) }
    return opened
  }

  /// Every queue that was opened. Releasing a database releases a libdispatch queue, which waits
  /// for a thread while the system cannot start one.
  private static let kept = Mutex<[any PayloadQueue]>([])
}

extension QueueLocation: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }
}

extension SyncChoice: ExpressibleByArgument {}

extension QueueError {
  /// The exit status of a command after this error.
  var exitStatus: Int32 {
    switch self {
    case .unavailable: ExitStatus.unavailable
    case .system: ExitStatus.software
    case .full, .disk, .failed: ExitStatus.inputOutput
    }
  }
}

/// Runs a queue operation. Logs its error and throws the exit status.
func orExit<Value>(_ log: Logger = LogFormat.text.logger(), _ body: () throws(QueueError) -> Value) throws -> Value {
  do throws(QueueError) {
    return try body()
  } catch {
    log.error("\(error)")
    throw ExitCode(error.exitStatus)
  }
}
