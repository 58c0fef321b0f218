package import Attache
package import Logging

/// A process that fetches media: its set-up before the first thread, and its store.
package struct EngineProcess {
  package let log: Logger
  private let storage: StoreOptions
  private let parent: FetcherParent

  /// Removes unsafe variables from the environment and forks the parent of the fetchers. Call it
  /// while the process has one thread.
  ///
  /// - Throws: the exit status, after the error is logged.
  package init(_ fetching: FetchOptions, _ storage: StoreOptions, _ timing: TimingOptions, _ log: Logger) throws {
    (self.storage, self.log) = (storage, log)
    AmbientEnvironment.removeUnsafeVariables()
    if let notice = fetching.notice { log.notice("\(notice)") }
    parent = try orExit(log, ExitStatus.software) { try fetching.fetcherParent(storage, timing) }
  }

  /// Sets up a process that works on many payloads and can be stopped (``StopSignals``).
  ///
  /// - Parameter notice: a message about the command's own flags.
  /// - Throws: the exit status, after the error is logged.
  package init(working options: EngineOptions, _ log: Logger, notice: String? = nil) throws {
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    DescriptorLimit.raise()
    if let notice { log.notice("\(notice)") }
    try self.init(options.fetching, options.storage, options.timing, log)
  }

  /// Opens the store and starts what uses it.
  ///
  /// - Returns: the store, which belongs to the caller, and what `start` returns.
  /// - Throws: the exit status, after the error is logged.
  package func started<Value>(_ start: (AttachmentStore, FetcherParent) throws -> Value) throws -> (AttachmentStore, Value) {
    let store = try orExit(log, ExitStatus.cannotCreate) { try storage.open() }
    do {
      return (store, try orExit(log, ExitStatus.software) { try start(store, parent) })
    } catch {
      store.shutdown()
      throw error
    }
  }
}
