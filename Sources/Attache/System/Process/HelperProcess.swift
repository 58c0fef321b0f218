internal import CChild
internal import Glibc
internal import Synchronization

/// A child process that runs C only and has one task at a time: a detector or a converter. It is
/// forked and continues in the image of its parent, so that it needs no executable and no second
/// load of a library.
///
/// It is used by one thread at a time, which never waits for a result, and waits at most 100 ms for
/// the child to end. Code that waits for every child of the process (`waitpid(-1)`) may reap the
/// child without harm.
class HelperProcess {
  /// Starts a child.
  ///
  /// - Returns: this side's end of its socket, and its process ID. Both belong to the caller.
  typealias Start = () throws(SystemError) -> (socket: Int32, child: pid_t)

  /// Children that were stopped and had not ended by then.
  private static let leftovers = Mutex<[pid_t]>([])

  /// Readable when there is an answer.
  let socket: Int32
  /// The process ID of the child.
  let child: pid_t
  /// The number of the latest task.
  private(set) var serial: UInt32 = 0
  /// Whether the child was stopped, and must not be asked again.
  private(set) var isOver = false

  /// - Throws: ``SystemError`` when the system cannot create a process.
  init(_ start: Start) throws(SystemError) {
    (socket, child) = try start()
    Self.collect()
  }

  deinit {
    if !isOver { stop() }
  }

  /// Returns the number of the next task.
  func nextSerial() -> UInt32 {
    serial &+= 1
    return serial
  }

  /// Stops the child.
  ///
  /// - Parameter milliseconds: how long to wait for its end.
  /// - Returns: the signal that ended it, or 0 when it is unknown.
  @discardableResult
  func stop(waiting milliseconds: UInt32 = 100) -> Int32 {
    guard !isOver else { return 0 }
    isOver = true
    var isGone = false
    let signal = unsafe child_stop(socket, child, milliseconds, &isGone)
    if !isGone { Self.leftovers.withLock { $0.append(child) } }
    return signal
  }

  /// Collects the stopped children that have ended since, so that they do not stay as zombies.
  ///
  /// - Parameter milliseconds: how long to wait for the end of each.
  static func collect(within milliseconds: UInt32 = 0) {
    let stopped = leftovers.withLock { leftovers in
      defer { leftovers = [] }
      return leftovers
    }
    let rest = stopped.filter { !child_is_gone($0, milliseconds) }
    if !rest.isEmpty { leftovers.withLock { $0 += rest } }
  }
}
