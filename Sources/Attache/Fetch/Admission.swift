/// Lets at most so many transfers at a time go to one origin; the others wait in the order they came.
///
/// libcurl's own queue cannot be used: a transfer that waits in it is deaf to its deadline.
struct Admission<Guest: AnyObject> {
  private struct Origin {
    var inside = 0
    var waiting: [Guest] = []
  }

  private let places: Int
  private var origins: [String: Origin] = [:]

  /// - Parameter places: transfers to one origin at a time.
  init(places: Int) {
    self.places = places
  }

  /// Returns whether the guest may start now; otherwise it waits until ``leave(_:)`` names it.
  mutating func enter(_ origin: String, _ guest: Guest) -> Bool {
    guard (origins[origin]?.inside ?? 0) < places else {
      origins[origin]?.waiting.append(guest)
      return false
    }
    origins[origin, default: Origin()].inside += 1
    return true
  }

  /// Gives a place back, and returns who may start in it.
  mutating func leave(_ origin: String) -> Guest? {
    guard let entry = origins[origin] else { return nil }
    guard entry.waiting.isEmpty else { return origins[origin]?.waiting.removeFirst() }
    origins[origin]?.inside -= 1
    if entry.inside == 1 { origins[origin] = nil }
    return nil
  }

  /// Takes a waiting guest out of the queue.
  mutating func giveUp(_ origin: String, _ guest: Guest) {
    origins[origin]?.waiting.removeAll { $0 === guest }
  }
}
