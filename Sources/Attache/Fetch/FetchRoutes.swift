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
  private let transfersPerOrigin: Int
  private let joins: Bool
  /// By URL.
  private(set) var routes: [String: Route] = [:]
  /// The number of URLs of each engine, by origin.
  private(set) var origins: [String: [Int]] = [:]
  /// The number of URLs of each engine.
  private(set) var loads: [Int]

  /// - Parameter joins: whether requests for a URL in flight join it.
  init(engines: Int, transfersPerOrigin: Int, joins: Bool) {
    (self.engines, self.transfersPerOrigin, self.joins) = (engines, transfersPerOrigin, joins)
    loads = Array(repeating: 0, count: engines)
  }

  /// Returns how many transfers at a time an engine may have to an origin: at least 1 if there are
  /// no more engines than transfers.
  static func share(of engine: Int, in origin: String, engines: Int, transfersPerOrigin: Int) -> Int {
    share(ofPlace: (engine - first(of: origin, engines) + engines) % engines, engines: engines, transfersPerOrigin: transfersPerOrigin)
  }

  /// - Parameter place: counted from the engine that gets the first place of the origin.
  private static func share(ofPlace place: Int, engines: Int, transfersPerOrigin: Int) -> Int {
    transfersPerOrigin / engines + (place < transfersPerOrigin % engines ? 1 : 0)
  }

  /// Returns the engine that gets the first place of an origin. It is the same in every run
  /// (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/).
  private static func first(of origin: String, _ engines: Int) -> Int {
    let hash = origin.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return Int(hash % UInt64(engines))
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
    let first = Self.first(of: origin, engines)
    // The share is limited because it is multiplied: a program that uses the library may pass any
    // number.
    func share(_ place: Int) -> Int {
      min(1 << 20, Self.share(ofPlace: place, engines: engines, transfersPerOrigin: transfersPerOrigin))
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
