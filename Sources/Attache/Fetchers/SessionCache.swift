/// The files that this process has fetched, by URL. A file is not fetched again while the store has
/// it.
struct SessionCache {
  private struct Entry {
    var file: StoredFile
    var checked: MonotonicInstant
    /// nil means as long as the process lives.
    var end: MonotonicInstant?
  }

  /// The number of latest URLs that are certainly remembered, and half of the maximum; about 300
  /// bytes each.
  static let capacity = 4_096
  /// How long a file is assumed to be in the store without a check. This is far shorter than the
  /// time for which the store does not evict files that another process has used.
  static let trust = Duration.seconds(30)

  private let trust: Duration
  private let capacity: Int
  private var entries: [String: Entry] = [:]
  private var order: [String] = []

  init(trust: Duration = Self.trust, capacity: Int = Self.capacity) {
    self.trust = trust
    self.capacity = capacity
  }

  /// Remembers a file that has just been stored or found in the store.
  ///
  /// - Parameter end: when the file stops being valid for the URL; nil for never.
  mutating func insert(_ file: StoredFile, for url: String, at now: MonotonicInstant, until end: MonotonicInstant? = nil) {
    if entries.updateValue(Entry(file: file, checked: now, end: end), forKey: url) == nil { order.append(url) }
    guard order.count > 2 * capacity else { return }
    for old in order.prefix(capacity) { entries[old] = nil }
    order.removeFirst(capacity)
  }

  /// Records that a remembered file has just been found in the store.
  mutating func renew(_ url: String, at now: MonotonicInstant) {
    entries[url]?.checked = now
  }

  mutating func remove(_ url: String) {
    entries[url] = nil
  }

  /// Returns the file, and whether it was seen in the store so recently that no check is needed.
  func file(for url: String, at now: MonotonicInstant) -> (file: StoredFile, isFresh: Bool)? {
    guard let entry = entries[url], entry.end.map({ now < $0 }) ?? true else { return nil }
    return (entry.file, entry.checked.duration(to: now) < trust)
  }
}
