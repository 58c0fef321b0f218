import ArgumentParser
import Attache
import AttacheArguments

/// The engine behind `attache inspect --fetch`, configured by the flags.
struct FetchTrial {
  private let store: AttachmentStore
  private let engine: EngineAssembly
  private let inspected: InspectionFetcher

  /// Opens the store and starts the engine.
  ///
  /// - Throws: the exit status when either fails, after the error is written to standard error.
  init(timing: TimingOptions, fetching: FetchOptions, storage: StoreOptions) throws {
    // This must run while the process has one thread.
    AmbientEnvironment.removeUnsafeVariables()
    if let notice = fetching.notice { ErrorOutput.write("attache: \(notice)\n") }
    let parent = try Self.orExit(ExitStatus.software) { try fetching.fetcherParent(storage, timing) }
    let store = try Self.orExit(ExitStatus.cannotCreate) { try storage.open() }
    engine = try Self.orExit(ExitStatus.software) {
      try EngineAssembly(timing, fetching, store: store, parent: parent, notify: { ErrorOutput.write("attache: \($0)\n") })
    }
    inspected = InspectionFetcher(host: engine.host, store: store, deadline: timing.deadline.duration)
    self.store = store
  }

  func fetch(_ inspection: inout Inspection) throws {
    var fetched = inspection
    try Self.orExit(ExitStatus.software) { try inspected.fetch(&fetched) }
    inspection = fetched
  }

  func shutdown() {
    if let warning = engine.shutdown() { ErrorOutput.write("attache: \(warning)\n") }
    store.shutdown()
  }

  private static func orExit<Value>(_ status: Int32, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      ErrorOutput.write("attache: \(error)\n")
      throw ExitCode(status)
    }
  }
}
