/// A loop's HTTP cache: looks URLs up in the index and files in the store, and writes rows, many at
/// a time. On the loop only.
///
/// An index that another process has locked has nothing to say, and takes rows later.
final class HTTPCache {
  enum Clearance {
    /// The gates want nothing more.
    case full
    /// They want the addresses of the host, unless it is known to be open to everybody.
    case ofPublic
    /// They want the addresses of the host.
    case withheld
  }

  enum LookupResult {
    /// Nothing that this run could use; whether the index has a row all the same.
    case nothing(IndexKey, hasRow: Bool)
    /// It is fresh, and its file is there, pinned once.
    case fresh(CacheEntry)
    /// It is fresh, if the gates pass the addresses of its host.
    case fenced(CacheEntry)
    /// It is stale, and there is a way to ask whether it has changed.
    case stale(CacheEntry)
  }

  /// What becomes of a URL's row.
  private enum Change {
    case keep(CacheEntry)
    case forget(IndexKey)

    /// What the index is to do.
    var change: StoreIndex.Change {
      switch self {
      case .keep(let entry): .keep(entry.row)
      case .forget(let key): .forget(key)
      }
    }
  }

  private let loop: EventLoop
  private let store: AttachmentStore
  private let limits: MediaLimits
  /// What tells this run's root certificates from others.
  private let roots: [UInt8]
  private let index: StoreIndex
  /// Whether there was no index, and this run has had nothing to write yet.
  private var lacksIndex: Bool
  /// What is still to be written, by URL.
  private var changes: [String: Change] = [:]
  private var timer: TimerEntry?

  /// Rows that are written together: a transaction costs as much as several of them.
  private static let portion = 256
  /// How long a row may wait for others. What is killed meanwhile loses these rows.
  private static let patience = Duration.milliseconds(250)
  /// How long the end of a run waits for the last rows.
  static let closingPatience = Duration.milliseconds(500)

  init(loop: EventLoop, store: AttachmentStore, limits: MediaLimits, roots: [UInt8]) {
    (self.loop, self.store, self.limits, self.roots) = (loop, store, limits, roots)
    index = store.makeIndex()
    lacksIndex = !store.hasIndex
  }

  /// The wall clock that expiry is told by, since 1970.
  var now: Duration { store.clock() }

  // MARK: Reading

  /// Looks a URL up that has passed this run's gates as far as `clearance` says.
  func lookUp(_ url: CheckedURL, _ clearance: Clearance) -> LookupResult {
    let key = IndexKey(url.text, roots: url.scheme == .https ? roots : [])
    // One that is missing is made with the first row: before, it might take the room of a file.
    let row = lacksIndex ? nil : index.row(for: key)
    guard let entry = entry(url.text, row), entry.passes(limits) else { return .nothing(key, hasRow: row != nil) }
    return answer(entry, clearance)
  }

  private func entry(_ url: String, _ row: IndexRow?) -> CacheEntry? {
    switch changes[url] {
    case .keep(let entry): entry
    case .forget: nil
    case nil: row.flatMap(CacheEntry.init)
    }
  }

  private func answer(_ entry: CacheEntry, _ clearance: Clearance) -> LookupResult {
    guard now < entry.expiry else { return entry.conditions.isEmpty ? .nothing(entry.key, hasRow: true) : .stale(entry) }
    switch clearance {
    case .full: break
    case .ofPublic where entry.isPublic: break
    case .ofPublic, .withheld: return .fenced(entry)
    }
    return pin(entry.file) ? .fresh(entry) : .nothing(entry.key, hasRow: true)
  }

  /// Pins a file that is in the store, and notes its use.
  ///
  /// - Returns: false for one that has gone or is not whole.
  func pin(_ file: StoredFile) -> Bool {
    store.pin(file)
    if store.touch(file) { return true }
    store.unpin(file)
    return false
  }

  // MARK: Writing

  func keep(_ entry: CacheEntry, for url: String) {
    note(.keep(entry), for: url)
  }

  func forget(_ key: IndexKey, for url: String) {
    note(.forget(key), for: url)
  }

  private func note(_ change: Change, for url: String) {
    changes[url] = change
    if changes.count >= Self.portion { write() } else { startTimer() }
  }

  /// Notes that an entry was of use, now and then: pruning goes by it.
  func noteUse(of entry: CacheEntry, for url: String) {
    let now = now.components.seconds
    guard .seconds(now - entry.lastUse) > store.limits.maximumAge / 16, changes[url] == nil else { return }
    var entry = entry
    entry.lastUse = now
    keep(entry, for: url)
  }

  private func startTimer() {
    guard timer == nil else { return }
    timer = loop.schedule(at: loop.now.advanced(by: Self.patience)) { [weak self] in
      self?.timer = nil
      self?.write()
    }
  }

  /// Called at the end of a turn, whose rows are read as of one moment: as long as somebody reads,
  /// the index's log cannot be begun anew.
  func turnEnded() {
    index.endReading()
  }

  private func write() {
    guard !changes.isEmpty else { return }
    lacksIndex = false
    index.write(changes.values.map(\.change))
    changes.removeAll(keepingCapacity: true)
  }

  /// Writes what is left, and closes the index.
  ///
  /// - Returns: what the user should know of it.
  func close() -> String? {
    if let timer { loop.cancel(timer) }
    timer = nil
    write()
    index.close()
    return index.warning
  }
}
