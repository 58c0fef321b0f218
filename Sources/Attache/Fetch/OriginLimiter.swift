/// A client that requests a place at an origin.
protocol OriginLimiterClient: AnyObject {
  /// Whether the client waits. Only ``OriginLimiter`` sets it.
  var isQueued: Bool { get set }
}

/// Limits the number of concurrent transfers to one origin and in total. Other transfers wait in
/// the order in which they arrived. Entering and leaving take constant time, however many wait.
///
/// Transfers that receive nothing can be set aside, so that they do not block others of their
/// origin: they count towards the total, but no longer towards their origin.
///
/// libcurl's own queue cannot be used: a transfer that waits in it ignores its deadline.
struct OriginLimiter<Waiter: OriginLimiterClient> {
  /// The result of a request to start.
  enum EntryResult: Equatable {
    case starts
    /// All places of the origin are taken.
    case waitsForOrigin
    /// All places are taken, whatever their origin.
    case waitsForAny
  }

  private struct Origin {
    var inside = 0
    var aside = 0
    /// The waiters in the order in which they arrived. Some may have been cancelled since.
    var queue = Ring<Waiter>()
    var waiting = 0

    var isUnused: Bool { inside == 0 && aside == 0 && waiting == 0 }

    mutating func add(_ waiter: Waiter) {
      waiter.isQueued = true
      queue.append(waiter)
      waiting += 1
    }

    mutating func next() -> Waiter? {
      while let waiter = queue.popFirst() {
        guard waiter.isQueued else { continue }
        waiter.isQueued = false
        waiting -= 1
        return waiter
      }
      return nil
    }

    mutating func remove(_ waiter: Waiter) {
      waiter.isQueued = false
      waiting -= 1
      // The queue is compacted, so that it does not keep too many cancelled waiters alive.
      guard queue.count > 2 * waiting + OriginLimiter.spare else { return }
      var rest = Ring<Waiter>()
      while let waiter = queue.popFirst() {
        if waiter.isQueued { rest.append(waiter) }
      }
      queue = rest
    }
  }

  /// The maximum number of transfers that may be set aside for each place of an origin. Beyond it,
  /// transfers are not set aside.
  static var asideForEachPlace: Int { 4 }
  /// The maximum number of cancelled waiters in a queue, in addition to as many as are waiting.
  private static var spare: Int { 64 }

  /// The maximum number of concurrent transfers to an origin.
  private let places: (String) -> Int
  private let placesInAll: Int
  private var inside = 0
  private var origins: [String: Origin] = [:]
  /// Origins with a free place and a waiter, in the order in which they are served. Some may
  /// no longer have either.
  private var ready = Ring<String>()

  /// - Parameters:
  ///   - placesInAll: the maximum number of concurrent transfers.
  ///   - places: the maximum number of concurrent transfers to an origin.
  init(placesInAll: Int = .max, places: @escaping (_ origin: String) -> Int) {
    (self.places, self.placesInAll) = (places, placesInAll)
  }

  /// Starts the waiter now, or queues it until ``leave(_:isAside:)`` or ``setAside(_:)`` returns it.
  mutating func enter(_ origin: String, _ waiter: Waiter) -> EntryResult {
    let isOriginFull = (origins[origin]?.inside ?? 0) >= places(origin)
    guard isOriginFull || inside >= placesInAll else {
      inside += 1
      origins[origin, default: Origin()].inside += 1
      return .starts
    }
    origins[origin, default: Origin()].add(waiter)
    guard !isOriginFull else { return .waitsForOrigin }
    ready.append(origin)
    return .waitsForAny
  }

  /// Sets a transfer aside.
  ///
  /// - Returns: whether it is aside now, and the waiter that may start in its place.
  mutating func setAside(_ name: String) -> (isAside: Bool, next: Waiter?) {
    guard let origin = origins[name], origin.aside < places(name) * Self.asideForEachPlace else { return (false, nil) }
    origins[name]?.inside -= 1
    origins[name]?.aside += 1
    guard inside < placesInAll else {
      ready.append(name)
      return (true, nil)
    }
    return (true, admit(to: name))
  }

  /// Gives a place back, and returns the waiter that may start in it.
  ///
  /// - Parameter isAside: whether the waiter has been set aside.
  mutating func leave(_ origin: String, isAside: Bool = false) -> Waiter? {
    guard origins[origin] != nil else { return nil }
    inside -= 1
    if isAside { origins[origin]?.aside -= 1 } else { origins[origin]?.inside -= 1 }
    ready.append(origin)
    while let origin = ready.popFirst() {
      if let waiter = admit(to: origin) { return waiter }
    }
    return nil
  }

  private mutating func admit(to name: String) -> Waiter? {
    guard let origin = origins[name] else { return nil }
    guard origin.waiting > 0, origin.inside < places(name) else {
      if origin.isUnused { origins[name] = nil }
      return nil
    }
    origins[name]?.inside += 1
    inside += 1
    return origins[name]?.next()
  }

  /// Removes a waiter from the queue. Does nothing if it has been started.
  mutating func giveUp(_ origin: String, _ waiter: Waiter) {
    guard waiter.isQueued else { return }
    origins[origin]?.remove(waiter)
    if origins[origin]?.isUnused == true { origins[origin] = nil }
  }
}

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
