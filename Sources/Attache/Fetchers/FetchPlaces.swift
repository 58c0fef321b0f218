internal import Synchronization

/// The places in the shared memory that no link has. Safe from any thread.
final class PlaceBlocks: Sendable {
  private let firstFree = Atomic<Int>(0)

  /// Returns places for a link, each of them once; empty when all places are taken.
  func next() -> Range<Int> {
    let first = min(FetcherMemory.places, firstFree.add(FetchPlaces.block, ordering: .relaxed).oldValue)
    return first..<min(FetcherMemory.places, first + FetchPlaces.block)
  }
}

/// The free places of a link in the shared memory. Returned places are reused before new ones, so
/// that few pages are used. A link never gives a place to another link: the limit applies to the sum
/// of the links' own peaks.
struct FetchPlaces {
  /// The number of places that a link gets at a time.
  static let block = 64

  private var free: [Int] = []

  /// - Parameter more: gets more places. They stay with this link.
  /// - Returns: ``FetcherMemory/places`` when all places are taken.
  mutating func take(more: () -> Range<Int>) -> Int {
    if free.isEmpty { free = more().reversed() }
    return free.popLast() ?? FetcherMemory.places
  }

  mutating func give(back place: Int) {
    if place < FetcherMemory.places { free.append(place) }
  }
}
