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
    let place = (engine - first(of: origin, engines) + engines) % engines
    return transfersPerOrigin / engines + (place < transfersPerOrigin % engines ? 1 : 0)
  }

  /// Returns the engine that gets the first place of an origin. It is the same in every run
  /// (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/).
  private static func first(of origin: String, _ engines: Int) -> Int {
    let hash = origin.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return Int(hash % UInt64(engines))
  }

  /// Chooses the engine for a request, which belongs to it until ``leave(_:_:)``.
  mutating func enter(_ url: CheckedURL) -> Int {
    if joins, let route = routes[url.text] {
      routes[url.text]?.waiters += 1
      return route.engine
    }
    let engine = choice(for: url.origin)
    if joins { routes[url.text] = Route(engine: engine, waiters: 1) }
    add(1, to: engine, of: url.origin)
    return engine
  }

  /// Removes a request that has been answered or cancelled.
  mutating func leave(_ url: CheckedURL, _ engine: Int) {
    if joins, let route = routes[url.text] {
      routes[url.text] = route.waiters > 1 ? Route(engine: engine, waiters: route.waiters - 1) : nil
      guard route.waiters == 1 else { return }
    }
    add(-1, to: engine, of: url.origin)
  }

  private func choice(for origin: String) -> Int {
    let first = Self.first(of: origin, engines)
    let own = origins[origin]
    // The share is limited because it is multiplied: a program that uses the library may pass any
    // number.
    func share(_ engine: Int) -> Int {
      min(1 << 20, Self.share(of: engine, in: origin, engines: engines, transfersPerOrigin: transfersPerOrigin))
    }
    var best = first
    for place in 1..<engines {
      let engine = (first + place) % engines
      // This compares the load per place of both engines, without fractions.
      let (other, present) = (((own?[engine] ?? 0) + 1) * share(best), ((own?[best] ?? 0) + 1) * share(engine))
      if (other, loads[engine]) < (present, loads[best]) { best = engine }
    }
    return best
  }

  private mutating func add(_ count: Int, to engine: Int, of origin: String) {
    loads[engine] += count
    origins[origin, default: Array(repeating: 0, count: loads.count)][engine] += count
    if count < 0, origins[origin]?.allSatisfy({ $0 == 0 }) == true { origins[origin] = nil }
  }
}
