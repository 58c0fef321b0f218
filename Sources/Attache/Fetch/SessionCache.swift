/// What this process has fetched, by URL: the file is not fetched again while the store has it.
struct SessionCache {
  private struct Entry {
    var file: StoredFile
    var checked: MonotonicInstant
  }

  /// The latest URLs that are remembered for certain, and half of those remembered at most; about 300 bytes each.
  static let capacity = 4_096
  /// How long a file is taken to be in the store without a look: far less than the store's eviction spares what another process used.
  static let trust = Duration.seconds(30)

  private let trust: Duration
  private var entries: [String: Entry] = [:]
  private var order: [String] = []

  init(trust: Duration = Self.trust) {
    self.trust = trust
  }

  /// Remembers a file that has just been stored or found in the store.
  mutating func insert(_ file: StoredFile, for url: String, at now: MonotonicInstant) {
    if entries.updateValue(Entry(file: file, checked: now), forKey: url) == nil { order.append(url) }
    guard order.count > 2 * Self.capacity else { return }
    for old in order.prefix(Self.capacity) { entries[old] = nil }
    order.removeFirst(Self.capacity)
  }

  mutating func remove(_ url: String) {
    entries[url] = nil
  }

  /// The file, and whether it was seen in the store so recently that it need not be looked for.
  func file(for url: String, at now: MonotonicInstant) -> (file: StoredFile, isFresh: Bool)? {
    entries[url].map { ($0.file, $0.checked.duration(to: now) < trust) }
  }
}
