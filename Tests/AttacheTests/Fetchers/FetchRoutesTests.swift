import Testing

@testable import Attache

/// Which engine of a fetcher gets which fetch.
struct FetchRoutesTests {
  private static func url(_ text: String) throws -> CheckedURL {
    try URLGate(URLPolicy(allowHTTP: true)).check(text)
  }

  @Test func `an origin's requests are spread evenly over the engines`() throws {
    var routes = FetchRoutes(engines: 4, transfersPerOrigin: 16, joins: true)
    let taken = try (0..<40).map { routes.enter(try Self.url("https://cdn.example/\($0)")) }
    #expect((0..<4).map { engine in taken.count { $0 == engine } } == [10, 10, 10, 10])
  }

  @Test func `a request goes to the engine that has the least of its origin, whatever others have`() throws {
    var routes = FetchRoutes(engines: 2, transfersPerOrigin: 16, joins: true)
    let stalled = try (0..<8).map { try Self.url("https://stalled.example/\($0)") }
    let taken = stalled.map { routes.enter($0) }
    // One engine has no fetch of this origin left.
    for (url, engine) in zip(stalled, taken) where engine == 0 { routes.leave(url, engine) }
    let next = routes.enter(try Self.url("https://stalled.example/x"))
    #expect(next == 0)
    // Neither engine has a fetch of another origin, so the less loaded one gets it.
    let other = routes.enter(try Self.url("https://other.example/x"))
    #expect(other == 0)
  }

  @Test func `a URL in flight stays with its engine until the last one has left`() throws {
    var routes = FetchRoutes(engines: 2, transfersPerOrigin: 16, joins: true)
    let url = try Self.url("https://cdn.example/a")
    let engine = routes.enter(url)
    let joined = (0..<5).map { _ in routes.enter(url) }
    #expect(joined == Array(repeating: engine, count: 5))
    for _ in 0..<6 { routes.leave(url, engine) }
    _ = try routes.enter(Self.url("https://cdn.example/b"))
    var apart = FetchRoutes(engines: 2, transfersPerOrigin: 16, joins: false)
    let both = Set((0..<2).map { _ in apart.enter(url) })
    #expect(both == [0, 1])
  }

  @Test(arguments: [(1, 1), (3, 2), (16, 2), (16, 3), (5, 5)])
  func `the engines' shares of an origin add up, and each has as many requests as it has places`(_ transfers: Int, _ engines: Int) throws {
    for origin in 0..<20 {
      var routes = FetchRoutes(engines: engines, transfersPerOrigin: transfers, joins: true)
      let urls = try (0..<transfers).map { try Self.url("https://host\(origin).example/\($0)") }
      let shares = (0..<engines).map { OriginShares(engines: engines, transfers: transfers).share(of: $0, in: urls[0].origin) }
      #expect(shares.reduce(0, +) == transfers && shares.allSatisfy { $0 > 0 })
      let taken = urls.map { routes.enter($0) }
      if engines > 1 { #expect((0..<engines).map { engine in taken.count { $0 == engine } } == shares) }
      for (url, engine) in zip(urls, taken) { routes.leave(url, engine) }
      #expect(routes.isEmpty)
    }
  }

  @Test func `the largest number of transfers is no number too large`() throws {
    var routes = FetchRoutes(engines: 2, transfersPerOrigin: .max, joins: true)
    let taken = try (0..<4).map { routes.enter(try Self.url("https://cdn.example/\($0)")) }
    #expect(taken.count { $0 == 0 } == 2)
  }

  @Test func `those who join a URL are no further load`() throws {
    var routes = FetchRoutes(engines: 2, transfersPerOrigin: 16, joins: true)
    let hot = try Self.url("https://cdn.example/hot")
    let engine = routes.enter(hot)
    for _ in 0..<200 { _ = routes.enter(hot) }
    let others = try (0..<15).map { routes.enter(try Self.url("https://cdn.example/\($0)")) }
    #expect(others.count { $0 == engine } == 7)
  }

  @Test func `there are no more engines than places at an origin, so that a redirect finds one`() throws {
    let folder = AttachmentStoreTestFolder()
    var configuration = FetchConfiguration()
    (configuration.fetchers, configuration.transfersPerOrigin) = (4, 2)
    let fetcher = try MediaFetcher(configuration, store: try folder.store())
    #expect(fetcher.engines.count == 2)
    fetcher.shutdown()
  }
}

extension FetchRoutes {
  /// Whether no engine has a request.
  var isEmpty: Bool {
    routes.isEmpty && origins.isEmpty && loads.allSatisfy { $0 == 0 }
  }
}
