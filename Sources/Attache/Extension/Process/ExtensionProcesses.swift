internal import Synchronization

/// The processes in which a user's service extension runs. Whatever the extension does, each call
/// ends, or its host decides without it.
///
/// A process that ends is replaced. A process whose call was decided without an answer is ended: its
/// work may go on for ever.
package final class ExtensionProcesses: Sendable {
  package struct Configuration: Sendable {
    /// The path of the program that `attache extension build` made.
    package var program: String
    /// The maximum number of processes.
    package var processes = 1
    /// The maximum number of requests that a process serves at a time.
    package var concurrency = 1
    /// The maximum anonymous memory of a process, in bytes; nil for no limit.
    ///
    /// Apple's documentation has no number. Developers report that iOS ends a service extension at
    /// 24 MB ("ActiveHard 24 MB (fatal)").
    package var memoryLimit: Int? = 24_000_000
    /// Whether a call with an answer is finished at once, so that nothing more is reported of it.
    package var finishesAnswered = true
    /// Whether one instance serves all requests of a process.
    package var reusesInstance = false
    /// Whether all processes have the home of the first one, as a phone keeps an app's folders.
    package var sharesHome = false
    package var network = ExtensionNetwork()
    /// Receives what the extension writes to standard output and standard error, on the loop.
    package var print: @Sendable (ArraySlice<UInt8>) -> Void = ExtensionOutput().write
    /// The folder of the app groups, with their defaults and their keychain; nil for an empty one that
    /// is removed at the end.
    package var groups: String?
    /// Further environment variables of the processes.
    package var environment: [String: String] = [:]

    package init(program: String) {
      self.program = program
    }
  }

  /// What an observer learns.
  package enum Observation: Sendable {
    case event(ExtensionEvent)
    /// The process was started.
    case started(process: Int32)
    /// The process has ended.
    ///
    /// - Parameters:
    ///   - verdict: why the host ended it; nil if it ended by itself.
    ///   - peakMemory: the most anonymous memory that was seen, in bytes.
    case ended(process: Int32, ProcessEnd, verdict: Reason?, peakMemory: Int)
  }

  /// The version of the frames, as the extension's library writes it.
  static let version = 2

  package let folder: ExtensionFolder
  private let loop: EventLoop
  private let pool: ProcessPool
  private let calls = Atomic<UInt64>(0)
  private let didEnd: any WakeSignal

  /// Starts the loop that looks after the processes. The first call starts the first process.
  ///
  /// - Parameters:
  ///   - warn: receives messages for the user, at most one for each way in which processes fail.
  ///   - observe: receives everything that happens, on the loop.
  /// - Throws: ``SystemError`` when the system cannot create a thread or a folder.
  package init(
    _ configuration: Configuration, warn: @escaping @Sendable (String) -> Void = { _ in },
    observe: (@Sendable (Observation, MonotonicInstant) -> Void)? = nil
  ) throws(SystemError) {
    folder = try ExtensionFolder(groups: configuration.groups)
    // The thread lives as long as the processes: they end with the thread that has started them.
    loop = try EventLoop(name: "extensions")
    pool = ProcessPool(configuration, folder, loop, warn, observe)
    didEnd = try loop.machine.makeWakeSignal()
  }

  /// Passes a request to a process.
  ///
  /// - Parameter ended: called at most once, on the loop.
  package func call(identifier: String, payload: [UInt8], ended: @escaping @Sendable (ExtensionCall.End) -> Void) -> ExtensionCall {
    let number = calls.wrappingAdd(1, ordering: .relaxed).newValue
    let call = ExtensionCall(number: number, identifier: identifier, payload: payload, ended: ended)
    loop.post { [pool] in pool.begin(call) }
    return call
  }

  /// Notifies the extension that the call's time will expire.
  package func expire(_ call: ExtensionCall) {
    loop.post { [pool] in pool.expire(call) }
  }

  /// Ends a call. A process that has not answered it is replaced.
  package func finish(_ call: ExtensionCall) {
    loop.post { [pool] in pool.finish(call) }
  }

  /// Starts a process, so that the first call need not wait for it.
  package func prepare() {
    loop.post { [pool] in pool.prepare() }
  }

  /// Ends the processes that serve no call: the next call gets a new one.
  package func endIdle() {
    loop.post { [pool] in pool.endIdle() }
  }

  /// Ends all processes, and waits for their end. Call it once.
  package func shutdown() {
    let isDone = SetOnce<Bool>()
    loop.post { [pool, didEnd] in
      pool.shutdown()
      isDone.set(true)
      didEnd.ring()
    }
    loop.stop()
    while isDone.value == nil { didEnd.wait(until: nil) }
  }
}
