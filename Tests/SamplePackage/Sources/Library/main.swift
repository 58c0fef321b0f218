import Attache

AmbientEnvironment.removeUnsafeVariables()
let store = try AttachmentStore(directory: "media", maximumBytes: 10_000_000_000, maximumAge: .seconds(2_592_000))
let clock = try MonotonicClock()
let fetcher = try MediaFetcher(FetchConfiguration(), store: store, clock: clock)
let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) { MediaExtension(fetcher: fetcher, store: store) }
let filter = try Filter(FilterConfiguration(), host: host, store: store, clock: clock)
_ = try filter.run()
_ = fetcher.shutdown()
store.shutdown()
