internal import Attache
internal import AttacheArguments

/// attache's engine in this process, put together as `attache` does.
struct InProcessEngine: Sendable {
  /// Why the engine does not start, with the exit status that `attache` would have.
  struct Refusal: Error {
    var status: Int32
    var reason: String
  }

  let filter: Filter
  let clock: MonotonicClock
  private let store: AttachmentStore
  private let fetcher: MediaFetcher

  init(_ options: FilterOptions, serviceExtension: ScriptedExtensionKind) throws(Refusal) {
    let store: AttachmentStore
    do { store = try options.storage.open() } catch { throw Refusal(status: ExitStatus.cannotCreate, reason: "\(error)") }
    self.store = store
    do {
      let clock = try MonotonicClock()
      let fetcher = try MediaFetcher(options.fetching.configuration, store: store)
      let (maximum, onExpiry) = (options.timing.maxAttachments, options.timing.onExpiry)
      let host = ServiceExtensionHost(clock: clock, grace: options.timing.effectiveGrace) {
        MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry)
      }
      filter = try Filter(options.filterConfiguration(), host: host, store: store, clock: clock)
      (self.clock, self.fetcher) = (clock, fetcher)
    } catch {
      store.shutdown()
      throw Refusal(status: ExitStatus.software, reason: "\(error)")
    }
  }

  /// Ends the threads; not while the filter runs.
  func shutdown() {
    fetcher.shutdown()
    store.shutdown()
  }
}
