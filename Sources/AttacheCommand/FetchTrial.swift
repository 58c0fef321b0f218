import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments
import Logging

/// The engine behind `attache inspect --fetch`.
struct FetchTrial {
  private let log = LogFormat.text.logger()
  private let store: AttachmentStore
  private let engine: EngineAssembly
  private let inspected: InspectionFetcher

  /// Opens the store and starts the engine.
  ///
  /// - Throws: the exit status when either fails, after the error is written to standard error.
  init(_ configuration: EngineConfiguration, notice: String?) throws {
    let process = try EngineProcess(configuration, log, notices: notice)
    (store, engine) = try process.started { [log] store, parent, _ in
      try EngineAssembly(process.configuration, store: store, parent: parent, notify: { log.warning("\($0)") })
    }
    inspected = InspectionFetcher(configuration.filter, host: engine.host, store: store, clock: engine.clock)
  }

  func fetch(_ inspection: inout Inspection) throws {
    var fetched = inspection
    try orExit(log, ExitStatus.software) { try inspected.fetch(&fetched) }
    inspection = fetched
  }

  func shutdown() {
    if let warning = engine.shutdown() { log.warning("\(warning)") }
    store.shutdown()
  }
}
