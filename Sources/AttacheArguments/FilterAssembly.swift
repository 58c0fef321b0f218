package import Attache

extension FilterOptions {
  /// Puts a filter together as the flags say.
  ///
  /// - Parameters:
  ///   - store: where the attachments go.
  ///   - clock: what the deadlines are kept by.
  ///   - network: what is fetched through; nil is the system's.
  ///   - makeExtension: makes what serves a request; nil is the extension that attache ships.
  ///   - explain: told about the first payload that falls back for each reason.
  package func makeFilter(
    store: AttachmentStore, clock: any DeadlineClock, network: FetchNetwork? = nil,
    makeExtension: (@Sendable () -> any ServiceExtension)? = nil, explain: @escaping @Sendable (Explanation) -> Void = { _ in }
  ) throws -> Filter {
    let configuration = fetching.configuration
    let fetcher = try MediaFetcher(configuration, store: store, network: network ?? .real(configuration))
    let (maximum, onExpiry) = (timing.maxAttachments, timing.onExpiry)
    let host = ServiceExtensionHost(
      clock: clock, grace: timing.effectiveGrace,
      makeExtension: makeExtension ?? { MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry) })
    return try Filter(filterConfiguration(), host: host, store: store, clock: clock, explain: explain)
  }
}
