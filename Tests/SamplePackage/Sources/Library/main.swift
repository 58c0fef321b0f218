import Attache

let store = try AttachmentStore(directory: "media", maximumBytes: 1_000_000_000, maximumAge: .seconds(86_400))
let clock = try MonotonicClock()
let fetcher = try MediaFetcher(MediaFetcher.Configuration(), store: store, clock: clock)
let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(100)) { MediaExtension(fetcher: fetcher, store: store) }
let filter = try Filter(Filter.Configuration(), host: host, store: store, clock: clock)
let result = try filter.run()
_ = fetcher.shutdown()
store.shutdown()
