package import Attache
package import Logging

/// A process that fetches media: its set-up before the first thread, and its store.
package struct EngineProcess {
  /// The configuration, with the fields of `--header-file`.
  package private(set) var configuration: EngineConfiguration
  package let log: Logger
  private let parent: FetcherParent

  /// Removes unsafe variables from the environment and forks the parent of the fetchers. Call it
  /// while the process has one thread.
  ///
  /// - Parameter notices: messages about the flags, for the log; nil is no message.
  /// - Throws: the exit status, after the error is logged.
  package init(_ configuration: EngineConfiguration, _ log: Logger, notices: String?...) throws {
    StopSignals.block()
    try self.init(configuration, log, notices, isReplaceable: false)
    StopSignals.endAfterChildren()
  }

  /// Sets up a process that works on many payloads and can be stopped (``StopSignals``).
  ///
  /// - Parameters:
  ///   - replacesParent: whether the parent of the fetchers is replaced when it ends. Otherwise no
  ///     more media are fetched then.
  ///   - leastDescriptors: with fewer descriptors, the process ends with a message.
  ///   - notices: messages about the flags, for the log; nil is no message.
  /// - Throws: the exit status, after the error is logged.
  package init(
    working configuration: EngineConfiguration, _ log: Logger, replacesParent: Bool = false, leastDescriptors: UInt = 0,
    notices: String?...
  ) throws {
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    DescriptorLimit.raise()
    DescriptorLimit.require(leastDescriptors)
    try self.init(configuration, log, notices, isReplaceable: replacesParent)
  }

  private init(_ configuration: EngineConfiguration, _ log: Logger, _ notices: [String?], isReplaceable: Bool) throws {
    (self.configuration, self.log) = (configuration, log)
    AmbientEnvironment.removeUnsafeVariables()
    for case let notice? in notices { log.notice("\(notice)") }
    if let warning = DescriptorLimit.warning(jobs: configuration.filter.jobs) { log.warning("\(warning)") }
    parent = try orExit(log, ExitStatus.software) { try configuration.fetcherParent(isReplaceable: isReplaceable) }
    SurvivedFailures.process.log(to: log)
    try orExit(log, ExitStatus.unavailable) {
      if let failure = parent.converterFailure { throw StartError(failure) }
    }
    // No process that was forked before has the fields.
    self.configuration = try orExit(log, ExitStatus.data) {
      var configuration = configuration
      try configuration.readHeaderFile()
      return configuration
    }
  }

  /// Opens the store, makes the uploader, and starts what uses them.
  ///
  /// - Returns: the store, which belongs to the caller, and what `start` returns.
  /// - Throws: the exit status, after the error is logged.
  package func started<Value>(
    _ start: (AttachmentStore, FetcherParent, UploadClient?) throws -> Value
  ) throws -> (AttachmentStore, Value) {
    // First, since a store that root has opened may be closed to its owner.
    try orExit(log, ExitStatus.cannotCreate) {
      try AttachmentStore.checkReach(to: configuration.store.directory, reading: configuration.filesOfProcesses)
    }
    let store = try orExit(log, ExitStatus.cannotCreate) { try AttachmentStore(configuration.store) }
    store.onPruneFailure { [log] in log.warning("\($0)") }
    do {
      let uploader = try orExit(log, ExitStatus.cannotCreate) { () throws(StartError) in
        guard configuration.upload != nil else { return UploadClient?.none }
        return try UploadClient(store, start: parent.startUploader) { [log] in log.warning("\($0)") }
      }
      do {
        return (store, try orExit(log, ExitStatus.software) { try start(store, parent, uploader) })
      } catch {
        uploader?.shutdown()
        throw error
      }
    } catch {
      store.shutdown()
      throw error
    }
  }
}
