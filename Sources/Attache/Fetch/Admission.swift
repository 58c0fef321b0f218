/// Lets at most so many transfers at a time go to one origin, and so many in all; the others wait in the order they came.
///
/// libcurl's own queue cannot be used: a transfer that waits in it is deaf to its deadline.
struct Admission<Guest: AnyObject> {
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
    var waiting: [Guest] = []
  }

  let places: Int
  let placesInAll: Int
  private var inside = 0
  private var origins: [String: Origin] = [:]
  /// Origins that have a place of their own and somebody waiting, in the order in which they are served; some may have neither any more.
  private var ready: [String] = []

  /// - Parameters:
  ///   - places: transfers to one origin at a time.
  ///   - placesInAll: transfers at a time.
  init(places: Int, placesInAll: Int = .max) {
    (self.places, self.placesInAll) = (places, placesInAll)
  }

  /// Lets the guest start now, or has it wait until ``leave(_:)`` names it.
  mutating func enter(_ origin: String, _ guest: Guest) -> Answer {
    let isOriginFull = (origins[origin]?.inside ?? 0) >= places
    guard isOriginFull || inside >= placesInAll else {
      inside += 1
      origins[origin, default: Origin()].inside += 1
      return .starts
    }
    origins[origin, default: Origin()].waiting.append(guest)
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
    while !ready.isEmpty {
      if let guest = admit(to: ready.removeFirst()) { return guest }
    }
    return nil
  }

  private mutating func admit(to name: String) -> Guest? {
    guard var origin = origins[name] else { return nil }
    guard !origin.waiting.isEmpty, origin.inside < places else {
      if origin.inside == 0, origin.waiting.isEmpty { origins[name] = nil }
      return nil
    }
    let guest = origin.waiting.removeFirst()
    origin.inside += 1
    inside += 1
    origins[name] = origin
    return guest
  }

  /// Takes a waiting guest out of the queue.
  mutating func giveUp(_ origin: String, _ guest: Guest) {
    origins[origin]?.waiting.removeAll { $0 === guest }
    if let entry = origins[origin], entry.inside == 0, entry.waiting.isEmpty { origins[origin] = nil }
  }
}
