/// Chooses the engine that fetches a URL. A URL in flight stays with its engine. Any other URL goes
/// to the engine with the lowest load from its origin, relative to the engine's share of the
/// origin's transfers.
///
/// Each engine has a share of at least one transfer, and the shares add up to the total. A pure
/// value.
struct FetchRoutes {
  struct Route {
    var engine: Int
    var waiters: Int
  }

  private let engines: Int
  private let shares: OriginShares
  private let joins: Bool
  /// By URL.
  private(set) var routes: [String: Route] = [:]
  /// The number of URLs of each engine, by origin.
  private(set) var origins: [String: [Int]] = [:]
  /// The number of URLs of each engine.
  private(set) var loads: [Int]

  /// - Parameter joins: whether requests for a URL in flight join it.
  init(engines: Int, transfersPerOrigin: Int, joins: Bool) {
    (self.engines, self.joins) = (engines, joins)
    shares = OriginShares(engines: engines, transfers: transfersPerOrigin)
    loads = Array(repeating: 0, count: engines)
  }

  /// Chooses the engine for a request, which belongs to it until ``leave(_:_:)``.
  mutating func enter(_ url: CheckedURL) -> Int {
    guard joins else { return enter(origin: url.origin) }
    if let index = routes.index(forKey: url.text) {
      routes.values[index].waiters += 1
      return routes.values[index].engine
    }
    let engine = enter(origin: url.origin)
    routes[url.text] = Route(engine: engine, waiters: 1)
    return engine
  }

  /// Removes a request that has been answered or cancelled.
  mutating func leave(_ url: CheckedURL, _ engine: Int) {
    if joins, let index = routes.index(forKey: url.text) {
      routes.values[index].waiters -= 1
      guard routes.values[index].waiters == 0 else { return }
      routes.remove(at: index)
    }
    loads[engine] -= 1
    guard let index = origins.index(forKey: url.origin) else { return }
    origins.values[index][engine] -= 1
    if origins.values[index].allSatisfy({ $0 == 0 }) { origins.remove(at: index) }
  }

  private mutating func enter(origin: String) -> Int {
    let index = origins.index(forKey: origin)
    let engine = choice(for: origin, index.map { origins.values[$0] })
    loads[engine] += 1
    if let index {
      origins.values[index][engine] += 1
    } else {
      origins[origin] = loads.indices.map { $0 == engine ? 1 : 0 }
    }
    return engine
  }

  /// - Parameter own: the number of the origin's URLs of each engine; nil if it has none.
  private func choice(for origin: String, _ own: [Int]?) -> Int {
    let first = shares.first(of: origin)
    // The share is limited because it is multiplied: a program that uses the library may pass any
    // number.
    func share(_ place: Int) -> Int {
      min(1 << 20, shares.share(ofPlace: place))
    }
    var (best, placeOfBest) = (first, 0)
    for place in 1..<engines {
      let engine = (first + place) % engines
      // This compares the load per place of both engines, without fractions.
      let (other, present) = (((own?[engine] ?? 0) + 1) * share(placeOfBest), ((own?[best] ?? 0) + 1) * share(place))
      if (other, loads[engine]) < (present, loads[best]) { (best, placeOfBest) = (engine, place) }
    }
    return best
  }
}
