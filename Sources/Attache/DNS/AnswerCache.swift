/// A cache of the addresses of recently resolved names.
package struct AnswerCache {
  private struct Entry {
    var addresses: [IPAddress]
    var end: MonotonicInstant
  }

  /// The longest time that an answer is cached, regardless of its time to live.
  static let maximumLifetime = Duration.seconds(60)

  private let capacity: Int
  private var entries: [String: Entry] = [:]

  /// - Parameter capacity: the maximum number of names in the cache.
  package init(capacity: Int = 4096) {
    self.capacity = capacity
  }

  /// The number of names in the cache, including expired ones.
  var count: Int {
    entries.count
  }

  /// Returns the addresses of `name`, or nil when it has no entry or its entry has expired.
  package func addresses(of name: String, at now: MonotonicInstant) -> [IPAddress]? {
    guard let entry = entries[name], now < entry.end else { return nil }
    return entry.addresses
  }

  /// Caches addresses for `lifetime`, but at most for ``maximumLifetime``. Caches nothing when
  /// `lifetime` is zero. A full cache first removes the half of its entries that expires first.
  package mutating func keep(_ addresses: [IPAddress], of name: String, for lifetime: Duration, at now: MonotonicInstant) {
    guard lifetime > .zero else { return }
    if entries.count >= capacity, entries[name] == nil {
      let median = entries.values.map(\.end).sorted()[entries.count / 2]
      entries = entries.filter { $0.value.end > median }
    }
    entries[name] = Entry(addresses: addresses, end: now.advanced(by: min(lifetime, Self.maximumLifetime)))
  }
}
