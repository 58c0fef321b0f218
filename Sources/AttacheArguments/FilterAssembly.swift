package import Attache

/// attache's engine as the flags have it, put together for a run.
package struct FilterAssembly: Sendable {
  package let filter: Filter
  package let clock: MonotonicClock
  private let fetcher: MediaFetcher

  /// - Parameters:
  ///   - store: stays the caller's, who shuts it down after ``shutdown()``.
  ///   - parent: starts the processes that fetch; nil has threads of this process fetch.
  ///   - network: what those threads stand on, and whose machine everything runs on; nil is the system's.
  ///   - serviceExtension: chooses what serves a request; it is given a maker of attache's own.
  ///   - explain: told about the first payload that falls back for each reason, and then once an hour.
  /// - Throws: what says why the engine does not start, in words for its user.
  package init(
    _ options: FilterOptions, store: AttachmentStore, parent: FetcherParent? = nil, network: FetchNetwork? = nil,
    serviceExtension: @escaping @Sendable (() -> MediaExtension) -> any ServiceExtension = { $0() },
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }, tell: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws {
    let configuration = options.engine.fetching.configuration
    let clock = try MonotonicClock(machine: network?.machine ?? SystemMachine())
    let fetcher =
      if let parent {
        try MediaFetcher(configuration, store: store, clock: clock, parent: parent, tell: tell)
      } else {
        try MediaFetcher(configuration, store: store, clock: clock, network: network ?? .real(configuration))
      }
    let (maximum, onExpiry) = (options.engine.timing.maxAttachments, options.engine.timing.onExpiry)
    let host = ServiceExtensionHost(clock: clock, grace: options.engine.timing.effectiveGrace) {
      serviceExtension { MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry) }
    }
    filter = try Filter(options.filterConfiguration(), host: host, store: store, clock: clock, explain: explain)
    (self.clock, self.fetcher) = (clock, fetcher)
  }

  /// Whether no media can be fetched any more.
  package var isBroken: Bool { fetcher.isBroken }

  /// Writes the HTTP cache and ends the fetcher's threads; not while the filter runs.
  ///
  /// - Returns: what the user should know of the cache.
  @discardableResult
  package func shutdown() -> String? {
    fetcher.shutdown()
  }
}
