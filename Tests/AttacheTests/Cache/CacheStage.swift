import AttacheTesting
import Synchronization
import Testing

@testable import Attache

/// An origin, a store and a wall clock that outlive the fetchers of a test. Each fetcher is a
/// separate run.
struct CacheStage: Sendable {
  let folder = AttachmentStoreTestFolder()
  let time = TestWallClock()
  let origin: FaultOrigin
  let dns: StubDNS?

  /// Starts a fetcher on the store, and shuts it down after `body`.
  ///
  /// - Returns: the notices about the cache.
  @discardableResult
  func run(
    nets: [String] = ["127.0.0.1/32"], configure: (inout FetchConfiguration) -> Void = { _ in },
    _ body: (FetchStage) async throws -> Void
  ) async throws -> String? {
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000_000, maximumAge: .seconds(864_000)) { [time] in time.now
    }
    defer { store.shutdown() }
    // No background prune runs between a run and the next step of the test.
    store.ledger.withLock { $0.notePrune(kept: 0, bytesBefore: 0, oldest: nil, now: time.now, limits: store.limits) }
    var configuration = FetchConfiguration()
    configuration.policy = URLPolicy(allowHTTP: true, allowedNets: try nets.map { try CIDR($0) })
    configuration.nameServers = dns.map { [$0.address] } ?? []
    configure(&configuration)
    let fetcher = try MediaFetcher(
      configuration, store: store, trust: SessionCache.trust, network: TransferWatch.watching(.real(configuration)))
    let stage = FetchStage(folder: folder, subfolder: "", store: store, origin: origin, fetcher: fetcher, clock: try MonotonicClock())
    do {
      try await body(stage)
      #expect(await stage.isAtRest())
      return fetcher.shutdown()
    } catch {
      fetcher.shutdown()
      throw error
    }
  }

  /// Fetches one path in a separate run.
  func fetch(
    _ place: String, nets: [String] = ["127.0.0.1/32"], configure: (inout FetchConfiguration) -> Void = { _ in }
  ) async throws -> Fetched {
    var fetched: Fetched?
    try await run(nets: nets, configure: configure) { stage in fetched = await stage.fetch(place) }
    return try #require(fetched)
  }

  /// The values of a field in the requests for a path, in order.
  func asked(_ field: String, path: String = "/a") -> [String?] {
    origin.requests.filter { $0.path == path }.map { $0.field(field) }
  }
}

/// Sets up a stage, runs `body` on it, and tears it down.
func withCacheStage(tls: FaultOrigin.TLS = .none, dns: StubDNS? = nil, _ body: (CacheStage) async throws -> Void) async throws {
  let origin = try await FaultOrigin.start(tls: tls)
  do {
    try await body(CacheStage(origin: origin, dns: dns))
  } catch {
    await origin.stop()
    throw error
  }
  await origin.stop()
}
