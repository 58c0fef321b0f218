/// The addresses of names looked up a short while ago.
package struct AnswerCache {
  private struct Entry {
    var addresses: [IPAddress]
    var end: MonotonicInstant
  }

  /// The longest that an answer is kept, whatever its time to live says.
  static let maximumLifetime = Duration.seconds(60)

  private let capacity: Int
  private var entries: [String: Entry] = [:]

  /// - Parameter capacity: the most names kept.
  package init(capacity: Int = 4096) {
    self.capacity = capacity
  }

  /// The number of names kept, expired ones included.
  var count: Int {
    entries.count
  }

  /// The addresses of `name` while they live.
  package func addresses(of name: String, at now: MonotonicInstant) -> [IPAddress]? {
    guard let entry = entries[name], now < entry.end else { return nil }
    return entry.addresses
  }

  /// Keeps addresses for `lifetime`, at most ``maximumLifetime``; not at all when it is zero. In a
  /// full cache the half that ends first makes room.
  package mutating func keep(_ addresses: [IPAddress], of name: String, for lifetime: Duration, at now: MonotonicInstant) {
    guard lifetime > .zero else { return }
    if entries.count >= capacity, entries[name] == nil {
      let median = entries.values.map(\.end).sorted()[entries.count / 2]
      entries = entries.filter { $0.value.end > median }
    }
    entries[name] = Entry(addresses: addresses, end: now.advanced(by: min(lifetime, Self.maximumLifetime)))
  }
}
