/// What wants a place at an origin.
protocol OriginLimiterClient: AnyObject {
  /// Whether it waits; ``OriginLimiter`` alone sets it.
  var isQueued: Bool { get set }
}

/// Lets at most so many transfers at a time go to one origin, and so many in all; the others wait
/// in the order they came. To come and to go takes constant time, however many wait.
///
/// Transfers that bring nothing can be set aside, so that they keep nobody from their origin: they
/// count among all, and no more among those of their origin.
///
/// libcurl's own queue cannot be used: a transfer that waits in it is deaf to its deadline.
struct OriginLimiter<Guest: OriginLimiterClient> {
  /// What becomes of a guest that wants to start.
  enum EntryResult: Equatable {
    case starts
    /// All places of its origin are taken.
    case waitsForOrigin
    /// All places are taken, whatever their origin.
    case waitsForAny
  }

  private struct Origin {
    var inside = 0
    var aside = 0
    /// In the order in which they came, with some that have given up since.
    var queue = Ring<Guest>()
    var waiting = 0

    var isUnused: Bool { inside == 0 && aside == 0 && waiting == 0 }

    mutating func add(_ guest: Guest) {
      guest.isQueued = true
      queue.append(guest)
      waiting += 1
    }

    mutating func next() -> Guest? {
      while let guest = queue.popFirst() {
        guard guest.isQueued else { continue }
        guest.isQueued = false
        waiting -= 1
        return guest
      }
      return nil
    }

    mutating func remove(_ guest: Guest) {
      guest.isQueued = false
      waiting -= 1
      // Those who have gone are held no longer than as many wait.
      guard queue.count > 2 * waiting + OriginLimiter.spare else { return }
      var rest = Ring<Guest>()
      while let guest = queue.popFirst() {
        if guest.isQueued { rest.append(guest) }
      }
      queue = rest
    }
  }

  /// How many transfers may be set aside, for each place of an origin: beyond them, it is left as
  /// it is.
  static var asideForEachPlace: Int { 4 }
  /// Guests that have gone and are held all the same, at most.
  private static var spare: Int { 64 }

  /// How many transfers to an origin at a time.
  private let places: (String) -> Int
  private let placesInAll: Int
  private var inside = 0
  private var origins: [String: Origin] = [:]
  /// Origins that have a place of their own and somebody waiting, in the order in which they are
  /// served; some may have neither any more.
  private var ready = Ring<String>()

  /// - Parameters:
  ///   - placesInAll: transfers at a time.
  ///   - places: transfers to an origin at a time.
  init(placesInAll: Int = .max, places: @escaping (_ origin: String) -> Int) {
    (self.places, self.placesInAll) = (places, placesInAll)
  }

  /// Lets the guest start now, or has it wait until ``leave(_:)`` names it.
  mutating func enter(_ origin: String, _ guest: Guest) -> EntryResult {
    let isOriginFull = (origins[origin]?.inside ?? 0) >= places(origin)
    guard isOriginFull || inside >= placesInAll else {
      inside += 1
      origins[origin, default: Origin()].inside += 1
      return .starts
    }
    origins[origin, default: Origin()].add(guest)
    guard !isOriginFull else { return .waitsForOrigin }
    ready.append(origin)
    return .waitsForAny
  }

  /// Sets a transfer aside.
  ///
  /// - Returns: whether it is aside now, and who may start in its place.
  mutating func setAside(_ name: String) -> (isAside: Bool, next: Guest?) {
    guard let origin = origins[name], origin.aside < places(name) * Self.asideForEachPlace else { return (false, nil) }
    origins[name]?.inside -= 1
    origins[name]?.aside += 1
    guard inside < placesInAll else {
      ready.append(name)
      return (true, nil)
    }
    return (true, admit(to: name))
  }

  /// Gives a place back, and returns who may start in it.
  ///
  /// - Parameter isAside: whether the guest has been set aside.
  mutating func leave(_ origin: String, isAside: Bool = false) -> Guest? {
    guard origins[origin] != nil else { return nil }
    inside -= 1
    if isAside { origins[origin]?.aside -= 1 } else { origins[origin]?.inside -= 1 }
    ready.append(origin)
    while let origin = ready.popFirst() {
      if let guest = admit(to: origin) { return guest }
    }
    return nil
  }

  private mutating func admit(to name: String) -> Guest? {
    guard let origin = origins[name] else { return nil }
    guard origin.waiting > 0, origin.inside < places(name) else {
      if origin.isUnused { origins[name] = nil }
      return nil
    }
    origins[name]?.inside += 1
    inside += 1
    return origins[name]?.next()
  }

  /// Takes a waiting guest out of the queue; nothing when it has been let in.
  mutating func giveUp(_ origin: String, _ guest: Guest) {
    guard guest.isQueued else { return }
    origins[origin]?.remove(guest)
    if origins[origin]?.isUnused == true { origins[origin] = nil }
  }
}
