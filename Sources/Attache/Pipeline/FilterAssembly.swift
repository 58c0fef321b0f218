/// attache's filter and its engine, for one run.
package struct FilterAssembly: Sendable {
  package let filter: Filter
  package let engine: EngineAssembly

  /// Starts the engine and creates the filter.
  ///
  /// - Parameters:
  ///   - store: belongs to the caller, which shuts it down after the engine.
  ///   - parent: starts the fetcher processes; with nil, threads of this process fetch.
  ///   - uploader: publishes the attachments; belongs to the engine.
  ///   - network: the network that those threads use and the machine that everything runs on; nil
  ///     selects the system's.
  ///   - serviceExtension: chooses the extension that serves a request; its argument creates
  ///     attache's own.
  ///   - observe: receives each decision about a candidate and the time that it took; nil for nothing.
  ///   - explain: receives the first payload that falls back for each reason, and then one
  ///     explanation an hour.
  ///   - notify: receives the notices about the fetcher processes.
  ///   - warn: receives the messages about the user's service extension.
  /// - Throws: an error that tells the user why the engine does not start.
  package init(
    _ configuration: EngineConfiguration, store: AttachmentStore, parent: FetcherParent? = nil,
    uploader: UploadClient? = nil, network: FetchNetwork? = nil,
    serviceExtension: @escaping @Sendable (() -> MediaExtension) -> any ServiceExtension = { $0() },
    observe: (@Sendable (Decision, Duration) -> Void)? = nil,
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }, notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in },
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    engine = try EngineAssembly(
      configuration, store: store, parent: parent, uploader: uploader, network: network, serviceExtension: serviceExtension, notify: notify,
      warn: warn)
    filter = try Filter(
      configuration.filter, host: engine.host, store: store, clock: engine.clock,
      places: engine.places(within: configuration.filter.deadline), observe: observe, explain: explain, warn: warn)
    engine.whenPlacesRise { [weak filter] in filter?.lookForPlaces() }
  }
}
