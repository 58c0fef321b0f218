/// How the engines of a fetcher share the transfers to an origin. Each has at least one if there are no
/// more engines than transfers, and the shares add up to the total.
struct OriginShares {
  let engines: Int
  /// The maximum number of concurrent transfers to an origin.
  let transfers: Int

  /// Returns how many transfers at a time an engine may have to an origin.
  func share(of engine: Int, in origin: String) -> Int {
    share(ofPlace: (engine - first(of: origin) + engines) % engines)
  }

  /// - Parameter place: counted from the engine that gets the first place of the origin.
  func share(ofPlace place: Int) -> Int {
    transfers / engines + (place < transfers % engines ? 1 : 0)
  }

  /// Returns the engine that gets the first place of an origin. It is the same in every run
  /// (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/).
  func first(of origin: String) -> Int {
    let hash = origin.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return Int(hash % UInt64(engines))
  }
}
