package import Attache

/// attache's filter as the flags have it, put together for a run.
package struct FilterAssembly: Sendable {
  package let filter: Filter
  package let engine: EngineAssembly

  /// - Parameters:
  ///   - store: stays the caller's, who shuts it down after the engine.
  ///   - parent: starts the processes that fetch; nil has threads of this process fetch.
  ///   - network: what those threads stand on, and whose machine everything runs on; nil is the
  ///     system's.
  ///   - serviceExtension: chooses what serves a request; it is given a maker of attache's own.
  ///   - explain: told about the first payload that falls back for each reason, and then once an
  ///     hour.
  ///   - tell: told of what happens to the processes that fetch.
  /// - Throws: what says why the engine does not start, in words for its user.
  package init(
    _ options: FilterOptions, store: AttachmentStore, parent: FetcherParent? = nil, network: FetchNetwork? = nil,
    serviceExtension: @escaping @Sendable (() -> MediaExtension) -> any ServiceExtension = { $0() },
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }, notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws {
    engine = try EngineAssembly(
      options.engine.timing, options.engine.fetching, store: store, parent: parent, network: network, serviceExtension: serviceExtension,
      notify: notify)
    filter = try Filter(options.filterConfiguration(), host: engine.host, store: store, clock: engine.clock, explain: explain)
  }
}
