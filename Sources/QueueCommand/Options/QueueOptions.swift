public import ArgumentParser
import Attache
import AttacheArguments
public import AttacheQueue
import Logging
import Synchronization

/// Which queue a command means.
struct QueueOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The queue: sqlite:PATH (a database) or dir:PATH (a folder with an inbox and an outbox).", valueName: "queue"))
  var queue: QueueLocation

  /// Opens the queue.
  ///
  /// - Throws: the exit status, once the log has said what stands in the way.
  func open(creates: Bool, sync: SyncChoice = .group, _ log: Logger = LogFormat.text.logger()) throws -> any PayloadQueue {
    try queue.open(creates: creates, sync: sync, log)
  }
}

extension QueueLocation {
  /// Opens the queue, and keeps it in memory until the process ends, open or closed.
  ///
  /// - Throws: the exit status, once the log has said what stands in the way.
  func open(creates: Bool, sync: SyncChoice, _ log: Logger) throws -> any PayloadQueue {
    // A database that is not opened after all is released at once.
    guard CommandThread.start({}) else { throw ExitCode(ExitStatus.software) }
    let opened = try orExit(log) { () throws(QueueError) in try open(creates: creates, sync: sync, notice: { log.notice("\($0)") }) }
    Self.kept.withLock { $0.append(opened) }
    return opened
  }

  /// To release a database is to release a queue of libdispatch's, which waits for a thread for as
  /// long as the system gives none.
  private static let kept = Mutex<[any PayloadQueue]>([])
}

extension QueueLocation: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }
}

extension SyncChoice: ExpressibleByArgument {}

extension QueueError {
  /// What a command ends with.
  var exitStatus: Int32 {
    switch self {
    case .unavailable: ExitStatus.unavailable
    case .system: ExitStatus.software
    case .full, .disk, .failed: ExitStatus.inputOutput
    }
  }
}

/// Runs what a queue may refuse; the log says why, and the exit status is thrown.
func orExit<Value>(_ log: Logger = LogFormat.text.logger(), _ body: () throws(QueueError) -> Value) throws -> Value {
  do throws(QueueError) {
    return try body()
  } catch {
    log.error("\(error)")
    throw ExitCode(error.exitStatus)
  }
}

/// Runs what may fail; the log says why, and the status is thrown.
func orExit<Value>(_ log: Logger, _ status: Int32, _ body: () throws(SystemError) -> Value) throws -> Value {
  do throws(SystemError) {
    return try body()
  } catch {
    log.error("\(error)")
    throw ExitCode(status)
  }
}
