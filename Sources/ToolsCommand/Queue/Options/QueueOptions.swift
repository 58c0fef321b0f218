public import ArgumentParser
import Attache
import AttacheArguments
public import AttacheQueue
import Logging
import Synchronization

/// The flags that select the queue of a command.
struct QueueOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The queue: sqlite:PATH (a database), or postgresql://HOST/DATABASE (a server that several machines share).
      """, valueName: "queue"))
  var queue: QueueArgument

  @OptionGroup var waiting: QueueTimeoutOption

  func validate() throws {
    guard Validation.isOn else { return }
    _ = try queue.checked()
  }

  /// The queue, after the flags were validated.
  var location: QueueLocation { queue.location }

  /// Opens the queue.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func open(creates: Bool, sync: SyncChoice = .group, _ log: Logger = LogFormat.text.logger()) throws -> any PayloadQueue {
    try location.open(creates: creates, sync: sync, timeout: waiting.queueTimeout.duration, log)
  }
}

/// The flag for how long a command waits for the server of a queue.
struct QueueTimeoutOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long a call waits for the server of a postgresql: queue, such as during a failover, before the command ends with 69.",
      valueName: "time"))
  var queueTimeout = DurationArgument(QueueOpening.timeout, as: "5m")

  func validate() throws {
    guard Validation.isOn else { return }
    guard queueTimeout.duration > .zero else { throw ValidationError("--queue-timeout must be more than 0.") }
  }
}

/// The value of `--queue`. Parsing always succeeds: the parser's own message for a wrong value would
/// repeat it, and it may contain a password.
struct QueueArgument: ExpressibleByArgument {
  private let parsed: Result<QueueLocation, QueueAddressError>

  init(argument: String) {
    parsed = Result { () throws(QueueAddressError) in try QueueLocation(parsing: argument) }
  }

  /// Returns the location.
  ///
  /// - Throws: `ValidationError` when the value is wrong.
  func checked() throws -> QueueLocation {
    switch parsed {
    case .success(let location): return location
    case .failure(let error): throw ValidationError("--queue <queue>: \(error).")
    }
  }

  /// The location, after ``checked()`` succeeded.
  var location: QueueLocation {
    switch parsed {
    case .success(let location): location
    case .failure: .sqlite(path: "")
    }
  }
}

extension QueueLocation {
  /// Opens the queue and keeps it in memory until the process ends, open or closed.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func open(creates: Bool, sync: SyncChoice, timeout: Duration, _ log: Logger) throws -> any PayloadQueue {
    // A database that fails to open is released at once, which waits for a thread (see `kept`).
    // Check first that the system can start one.
    guard CommandThread.start("probe", {}) else { throw ExitCode(ExitStatus.software) }
    LockWaits.process.report { log.warning("\($0.onOneLine)") }
    SurvivedFailures.process.log(to: log)
    let opened = try orExit(log) { () throws(QueueError) in
      try open(creates: creates, sync: sync, timeout: timeout)
    }
    Self.kept.withLock { $0.append(opened) }
    return opened
  }

  /// Every queue that was opened. Releasing a database releases a libdispatch queue, which waits
  /// for a thread while the system cannot start one.
  private static let kept = Mutex<[any PayloadQueue]>([])
}

extension SyncChoice: ExpressibleByArgument {}

extension QueueError {
  /// The exit status of a command after this error.
  var exitStatus: Int32 {
    switch self {
    case .unavailable, .unknown: ExitStatus.unavailable
    case .locked: ExitStatus.temporaryFailure
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
