package import Attache

/// What fetches media and serves payloads, as the flags have it: put together here for the filter,
/// a queue's worker and the inspection.
package struct EngineAssembly: Sendable {
  package let clock: MonotonicClock
  package let host: ServiceExtensionHost
  private let fetcher: MediaFetcher

  /// - Parameters:
  ///   - store: stays the caller's, who shuts it down after ``shutdown()``.
  ///   - parent: starts the processes that fetch; nil has threads of this process fetch.
  ///   - network: what those threads stand on, and whose machine everything runs on; nil is the
  ///     system's.
  ///   - serviceExtension: chooses what serves a request; it is given a maker of attache's own.
  ///   - tell: told of what happens to the processes that fetch.
  /// - Throws: what says why the engine does not start, in words for its user.
  package init(
    _ timing: TimingOptions, _ fetching: FetchOptions, store: AttachmentStore, parent: FetcherParent? = nil, network: FetchNetwork? = nil,
    serviceExtension: @escaping @Sendable (() -> MediaExtension) -> any ServiceExtension = { $0() },
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws {
    let configuration = fetching.configuration
    let clock = try MonotonicClock(machine: network?.machine ?? SystemMachine())
    let fetcher =
      if let parent {
        try MediaFetcher(configuration, store: store, clock: clock, parent: parent, notify: notify)
      } else {
        try MediaFetcher(configuration, store: store, clock: clock, network: network ?? .real(configuration))
      }
    let (maximum, onExpiry) = (timing.maxAttachments, timing.onExpiry)
    host = ServiceExtensionHost(clock: clock, grace: timing.effectiveGrace) {
      serviceExtension { MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry) }
    }
    (self.clock, self.fetcher) = (clock, fetcher)
  }

  /// Whether no media can be fetched any more.
  package var isBroken: Bool { fetcher.isBroken }

  /// Asks how the origins stand (``MediaFetcher/pulse(_:)``).
  package func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    fetcher.pulse(answer)
  }

  /// Writes the HTTP cache and ends the fetcher's threads; not while payloads are served.
  ///
  /// - Returns: what the user should know of the cache.
  @discardableResult
  package func shutdown() -> String? {
    fetcher.shutdown()
  }
}
