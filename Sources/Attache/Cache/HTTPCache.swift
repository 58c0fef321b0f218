/// The HTTP cache of one loop. It looks up URLs in the index and files in the store, and writes
/// rows in batches. On the loop only.
///
/// While another process locks the index, lookups find nothing and rows are written later.
final class HTTPCache {
  enum Clearance {
    /// The gates require nothing more.
    case full
    /// The gates must check the addresses of the host, unless the entry is known to be public.
    case ofPublic
    /// The gates must check the addresses of the host.
    case withheld
  }

  enum LookupResult {
    /// No usable entry. `hasRow` says whether the index has a row anyway.
    case nothing(IndexKey, hasRow: Bool)
    /// The entry is fresh. Its file is in the store and pinned once.
    case fresh(CacheEntry)
    /// The entry is fresh, but the gates must first pass the addresses of its host.
    case fenced(CacheEntry)
    /// The entry is stale and can be revalidated.
    case stale(CacheEntry)
  }

  /// A change of a URL's row.
  private enum Change {
    case keep(CacheEntry)
    case forget(IndexKey)

    /// The same change for the index.
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
  /// The identity of this run's root certificates.
  private let roots: [UInt8]
  /// The identity of this run's steps after the transfer.
  private let steps: [UInt8]
  /// The User-Agent field of this run, if it is not the default.
  private let agentLines: [String]
  private let index: StoreIndex
  /// Whether there was no index at the start and this run has not written yet.
  private var lacksIndex: Bool
  /// The changes that are not written yet.
  private var changes: [IndexKey: Change] = [:]
  private var timer: TimerEntry?

  /// The number of rows that are written together: a transaction costs as much as several rows.
  private static let portion = 256
  /// How long a row may wait for others. A killed process loses these rows.
  private static let writeDelay = Duration.milliseconds(250)
  /// How long the end of a run waits for the last rows to be written.
  static let closingTimeLimit = Duration.milliseconds(500)

  init(
    loop: EventLoop, store: AttachmentStore, limits: MediaLimits, roots: [UInt8], steps: [UInt8] = [],
    userAgent: String = RequestField.defaultUserAgent
  ) {
    (self.loop, self.store, self.limits, self.roots, self.steps) = (loop, store, limits, roots, steps)
    agentLines = userAgent == RequestField.defaultUserAgent ? [] : ["User-Agent: \(userAgent)"]
    index = store.makeIndex()
    lacksIndex = store.indexStatus == nil
  }

  /// The current wall-clock time, since 1970. Expiry times are compared with it.
  var now: Duration { store.clock() }

  // MARK: Reading

  /// Looks up a URL.
  ///
  /// - Parameters:
  ///   - fields: the operator's header lines for the request. Another request may get another file.
  ///   - clearance: the gates of this run that the URL has passed.
  func lookUp(_ url: CheckedURL, _ fields: [String], _ clearance: Clearance) -> LookupResult {
    let key = IndexKey(url.text, roots: url.scheme == .https ? roots : [], steps: steps, additions: agentLines + fields)
    // A missing index is created with the first row. If it were created earlier, it might take the
    // space of a file.
    let row = lacksIndex ? nil : index.row(for: key)
    guard let entry = entry(key, row), entry.passes(limits) else { return .nothing(key, hasRow: row != nil) }
    return answer(entry, clearance)
  }

  private func entry(_ key: IndexKey, _ row: IndexRow?) -> CacheEntry? {
    switch changes[key] {
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

  /// Pins a file of the store, and sets its last use to now.
  ///
  /// - Returns: false when the file is gone or incomplete.
  func pin(_ file: StoredFile) -> Bool {
    store.pin(file)
    if store.touch(file) { return true }
    store.unpin(file)
    return false
  }

  // MARK: Conversions

  /// Returns what an earlier run or another loop made of the same bytes with the same steps, pinned
  /// once; nil if nothing is known or the file is gone.
  func converted(from source: SHA256.Digest) -> StoredFile? {
    if lacksIndex { lacksIndex = store.indexStatus == nil }
    guard !lacksIndex, let row = index.row(for: key(of: source)), let file = StoredFile(converted: row), pin(file) else { return nil }
    if .seconds(now.components.seconds - row.lastUse) > store.limits.maximumAge / 16 { keep(file, convertedFrom: source) }
    return file
  }

  /// Stores what was made of a picture, at once: other loops may have the same picture.
  func keep(_ file: StoredFile, convertedFrom source: SHA256.Digest) {
    guard let row = file.row(for: key(of: source), lastUse: now.components.seconds) else { return }
    lacksIndex = false
    index.write([.keep(row)])
  }

  /// No URL begins like this.
  private func key(of source: SHA256.Digest) -> IndexKey {
    IndexKey("sha256 " + source.hexadecimal(), steps: steps)
  }

  // MARK: Writing

  func keep(_ entry: CacheEntry) {
    note(.keep(entry), for: entry.key)
  }

  func forget(_ key: IndexKey) {
    note(.forget(key), for: key)
  }

  private func note(_ change: Change, for key: IndexKey) {
    changes[key] = change
    if changes.count >= Self.portion { write() } else { startTimer() }
  }

  /// Records the use of an entry, at most once per sixteenth of the maximum age. Pruning uses this
  /// time.
  func noteUse(of entry: CacheEntry) {
    let now = now.components.seconds
    guard .seconds(now - entry.lastUse) > store.limits.maximumAge / 16, changes[entry.key] == nil else { return }
    var entry = entry
    entry.lastUse = now
    keep(entry)
  }

  private func startTimer() {
    guard timer == nil else { return }
    timer = loop.schedule(at: loop.now.advanced(by: Self.writeDelay)) { [weak self] in
      self?.timer = nil
      self?.write()
    }
  }

  /// Called at the end of a turn. All lookups of a turn use one snapshot. An open snapshot prevents
  /// SQLite from resetting the write-ahead log.
  func turnEnded() {
    index.endReading()
  }

  private func write() {
    guard !changes.isEmpty else { return }
    lacksIndex = false
    index.write(changes.values.map(\.change))
    changes.removeAll(keepingCapacity: true)
  }

  /// Writes the remaining rows, and closes the index.
  ///
  /// - Returns: a warning for the user.
  func close() -> String? {
    if let timer { loop.cancel(timer) }
    timer = nil
    write()
    index.close()
    return index.warning
  }
}

/// The state of a fetch with respect to the HTTP cache: the entry of the current hop, and how long
/// the result may be reused. On the loop only.
struct FetchCacheState {
  /// The key of the hop, once it has been looked up.
  private(set) var key: IndexKey?
  /// Whether the index has a row for the hop.
  private var hasRow = false
  /// The index entry of the hop.
  private(set) var entry: CacheEntry?
  /// Whether the entry may be used without a request, once the address gate has passed its host.
  private(set) var isFresh = false
  /// When the latest request was sent; wall clock.
  var asked = Duration.zero
  private var exchange: Freshness.Exchange?
  private var fields = CacheFields()
  private var entityTag: String?
  /// The earliest time at which the final response, or a redirect that led to it, must be requested
  /// again.
  private(set) var trustedUntil: Duration?

  /// Takes the result of the lookup of a new hop.
  mutating func handle(_ answer: HTTPCache.LookupResult) {
    (key, hasRow, entry, isFresh) = (nil, true, nil, false)
    switch answer {
    case .nothing(let key, let hasRow): (self.key, self.hasRow) = (key, hasRow)
    case .fresh(let entry), .fenced(let entry): (key, self.entry, isFresh) = (entry.key, entry, true)
    case .stale(let entry): (key, self.entry) = (entry.key, entry)
    }
  }

  /// Drops the index entry, because its file is gone or a 304 refers to another file.
  mutating func dropEntry() {
    (entry, isFresh) = (nil, false)
  }

  /// The header lines that make the next request conditional.
  var conditions: [String] { entry?.conditions ?? [] }

  /// Takes the head of a response.
  mutating func handle(_ head: ResponseHead, at now: Duration) {
    let exchange = Freshness.Exchange(asked: asked, answered: now)
    (self.exchange, fields) = (exchange, head.caching)
    entityTag = head.caching.tagsDiffer ? nil : CacheEntry.validator(head.entityTag)
    guard (300..<400).contains(head.status), head.status != 304 else { return }
    trust(until: now + Freshness.redirectLifetime(head.status, head.caching, exchange))
  }

  /// Limits how long the result may be reused within this run: no longer than the final response
  /// and each redirect that led to it.
  mutating func trust(until moment: Duration) {
    trustedUntil = min(trustedUntil ?? moment, moment)
  }

  /// Whether a 304 may refer to a file other than the cached one (RFC 9111, 4.3.4).
  var isForOtherEntity: Bool {
    guard let entityTag, !entityTag.hasPrefix("W/") else { return false }
    return entry?.entityTag != entityTag
  }

  /// Returns what to do with the index entry after the latest response and its file have been
  /// accepted.
  ///
  /// - Parameter isRefreshed: whether the response was a 304.
  mutating func conclusion(_ file: StoredFile, isRefreshed: Bool, pixels: Int, isPublic: Bool) -> Conclusion {
    guard let exchange else { return .none }
    let fields = isRefreshed ? entry?.fields.refreshed(by: self.fields) ?? self.fields : self.fields
    let expiry = Freshness.expiry(of: fields, exchange)
    trust(until: fields.mayBeKept ? expiry : .zero)
    guard let key else { return .none }
    guard fields.mayBeKept else { return hasRow ? .forget(key) : .none }
    let kept = isRefreshed ? entry : nil
    let new = CacheEntry(
      key: key, file: file, fields: fields, entityTag: entityTag ?? kept?.entityTag, expiry: expiry, pixels: kept?.pixels ?? pixels,
      isPublic: isPublic, lastUse: exchange.answered.components.seconds)
    // An entry that is already stale and cannot be revalidated is useless.
    guard expiry > exchange.answered || !new.conditions.isEmpty else { return hasRow ? .forget(key) : .none }
    return .keep(new)
  }

  enum Conclusion {
    case none
    case keep(CacheEntry)
    case forget(IndexKey)
  }
}
