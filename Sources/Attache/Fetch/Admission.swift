/// What wants a place at an origin.
protocol AdmissionGuest: AnyObject {
  /// Whether it waits; ``Admission`` alone sets it.
  var isQueued: Bool { get set }
}

/// Lets at most so many transfers at a time go to one origin, and so many in all; the others wait in the order they came. To come and to go takes constant
/// time, however many wait.
///
/// libcurl's own queue cannot be used: a transfer that waits in it is deaf to its deadline.
struct Admission<Guest: AdmissionGuest> {
  /// What becomes of a guest that wants to start.
  enum Answer: Equatable {
    case starts
    /// All places of its origin are taken.
    case waitsForOrigin
    /// All places are taken, whatever their origin.
    case waitsForAny
  }

  private struct Origin {
    var inside = 0
    /// In the order in which they came, with some that have given up since.
    var queue = Ring<Guest>()
    var waiting = 0

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
      guard queue.count > 2 * waiting + Admission.spare else { return }
      var rest = Ring<Guest>()
      while let guest = queue.popFirst() {
        if guest.isQueued { rest.append(guest) }
      }
      queue = rest
    }
  }

  /// Guests that have gone and are held all the same, at most.
  private static var spare: Int { 64 }

  /// How many transfers to an origin at a time.
  private let places: (String) -> Int
  private let placesInAll: Int
  private var inside = 0
  private var origins: [String: Origin] = [:]
  /// Origins that have a place of their own and somebody waiting, in the order in which they are served; some may have neither any more.
  private var ready = Ring<String>()

  /// - Parameters:
  ///   - placesInAll: transfers at a time.
  ///   - places: transfers to an origin at a time.
  init(placesInAll: Int = .max, places: @escaping (_ origin: String) -> Int) {
    (self.places, self.placesInAll) = (places, placesInAll)
  }

  /// Lets the guest start now, or has it wait until ``leave(_:)`` names it.
  mutating func enter(_ origin: String, _ guest: Guest) -> Answer {
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

  /// Gives a place back, and returns who may start in it.
  mutating func leave(_ origin: String) -> Guest? {
    guard origins[origin] != nil else { return nil }
    inside -= 1
    origins[origin]?.inside -= 1
    ready.append(origin)
    while let origin = ready.popFirst() {
      if let guest = admit(to: origin) { return guest }
    }
    return nil
  }

  private mutating func admit(to name: String) -> Guest? {
    guard let origin = origins[name] else { return nil }
    guard origin.waiting > 0, origin.inside < places(name) else {
      if origin.inside == 0, origin.waiting == 0 { origins[name] = nil }
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
    if let entry = origins[origin], entry.inside == 0, entry.waiting == 0 { origins[origin] = nil }
  }
}
