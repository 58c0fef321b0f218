internal import Synchronization

/// Chooses the engine that fetches a URL. A URL in flight belongs to the engine that has it. Any
/// other goes to the engine that has the least of its origin, for its share of the origin's
/// transfers.
///
/// Each engine has a share of one transfer at least; the shares add up. Safe from any thread.
final class FetchRoutes: Sendable {
  fileprivate struct Route {
    var engine: Int
    var waiters: Int
  }

  fileprivate struct State {
    /// By URL.
    var routes: [String: Route] = [:]
    /// By origin, how many URLs each engine has.
    var origins: [String: [Int]] = [:]
    /// By engine, how many URLs it has.
    var loads: [Int]
  }

  let engines: Int
  let transfersPerOrigin: Int
  private let joins: Bool
  private let state: Mutex<State>

  /// - Parameter joins: whether requests for a URL in flight join it.
  init(engines: Int, transfersPerOrigin: Int, joins: Bool) {
    (self.engines, self.transfersPerOrigin, self.joins) = (engines, transfersPerOrigin, joins)
    state = Mutex(State(loads: Array(repeating: 0, count: engines)))
  }

  /// How many transfers at a time an engine may have to an origin: 1 at least where there are no
  /// more engines than transfers.
  static func share(of engine: Int, in origin: String, engines: Int, transfersPerOrigin: Int) -> Int {
    let place = (engine - first(of: origin, engines) + engines) % engines
    return transfersPerOrigin / engines + (place < transfersPerOrigin % engines ? 1 : 0)
  }

  /// The engine that gets the first place of an origin, in every run the same (FNV-1a,
  /// http://www.isthe.com/chongo/tech/comp/fnv/).
  private static func first(of origin: String, _ engines: Int) -> Int {
    let hash = origin.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return Int(hash % UInt64(engines))
  }

  /// Finds the engine for a request, which has it until ``leave(_:_:)``.
  func enter(_ url: CheckedURL) -> Int {
    guard engines > 1 else { return 0 }
    return state.withLock { state in
      if joins, let route = state.routes[url.text] {
        state.routes[url.text]?.waiters += 1
        return route.engine
      }
      let engine = choice(for: url.origin, in: state)
      if joins { state.routes[url.text] = Route(engine: engine, waiters: 1) }
      state.add(1, to: engine, of: url.origin)
      return engine
    }
  }

  /// Takes back a request that has been answered or given up.
  func leave(_ url: CheckedURL, _ engine: Int) {
    guard engines > 1 else { return }
    state.withLock { state in
      if joins, let route = state.routes[url.text] {
        state.routes[url.text] = route.waiters > 1 ? Route(engine: engine, waiters: route.waiters - 1) : nil
        guard route.waiters == 1 else { return }
      }
      state.add(-1, to: engine, of: url.origin)
    }
  }

  /// Whether no engine has a request.
  var isEmpty: Bool {
    state.withLock { $0.routes.isEmpty && $0.origins.isEmpty && $0.loads.allSatisfy { $0 == 0 } }
  }

  private func choice(for origin: String, in state: State) -> Int {
    let first = Self.first(of: origin, engines)
    let own = state.origins[origin]
    // Bounded, since it is multiplied: a program that uses the library may give any number.
    func share(_ engine: Int) -> Int {
      min(1 << 20, Self.share(of: engine, in: origin, engines: engines, transfersPerOrigin: transfersPerOrigin))
    }
    var best = first
    for place in 1..<engines {
      let engine = (first + place) % engines
      // What each would have for each of its places, without a fraction.
      let (other, present) = (((own?[engine] ?? 0) + 1) * share(best), ((own?[best] ?? 0) + 1) * share(engine))
      if (other, state.loads[engine]) < (present, state.loads[best]) { best = engine }
    }
    return best
  }
}

extension FetchRoutes.State {
  fileprivate mutating func add(_ count: Int, to engine: Int, of origin: String) {
    loads[engine] += count
    origins[origin, default: Array(repeating: 0, count: loads.count)][engine] += count
    if count < 0, origins[origin]?.allSatisfy({ $0 == 0 }) == true { origins[origin] = nil }
  }
}
