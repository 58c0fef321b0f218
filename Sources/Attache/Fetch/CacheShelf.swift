/// The index's side of the HTTP cache: answers inquiries from the index and the store, and writes rows.
///
/// `@unchecked Sendable`: confined to the index's thread.
final class CacheShelf: @unchecked Sendable {
  /// What is asked about a URL.
  struct Inquiry: Sendable {
    var key: IndexKey
    /// Whether this run's gates have passed the URL altogether, or all but the address of a host.
    var clearance: Clearance
    /// What is to be written and is not yet.
    var pending: Change?
  }

  /// What becomes of a URL's row.
  enum Change: Sendable {
    case keep(CacheEntry)
    case forget(IndexKey)

    /// What the index is to do.
    fileprivate var change: StoreIndex.Change {
      switch self {
      case .keep(let entry): .keep(entry.row)
      case .forget(let key): .forget(key)
      }
    }
  }

  enum Clearance: Sendable {
    /// The gates want nothing more.
    case full
    /// They want the addresses of the host, unless it is known to be open to everybody.
    case ofPublic
    /// They want the addresses of the host.
    case withheld
  }

  enum Answer: Sendable {
    /// No answer came in time: the URL is fetched as if there were no cache.
    case none
    /// Nothing that this run could use; whether the index has a row all the same.
    case nothing(IndexKey, hasRow: Bool)
    /// It is fresh, and its file is there, pinned once.
    case fresh(CacheEntry)
    /// It is fresh, if the gates pass the addresses of its host.
    case fenced(CacheEntry)
    /// It is stale, and there is a way to ask whether it has changed.
    case stale(CacheEntry)
  }

  private let store: AttachmentStore
  private let limits: MediaLimits
  private let index: StoreIndex

  init(_ store: AttachmentStore, limits: MediaLimits) {
    self.store = store
    self.limits = limits
    index = store.makeIndex()
  }

  /// What the user should know of the index.
  var warning: String? { index.warning }

  /// Answers inquiries, all from one moment of the index.
  func answers(_ inquiries: [Inquiry]) -> [Answer] {
    let rows = index.rows(for: inquiries.map(\.key))
    let now = store.clock()
    return inquiries.indices.map { at in
      let entry = entry(inquiries[at].pending, rows[at])
      guard let entry, entry.passes(limits) else { return .nothing(inquiries[at].key, hasRow: rows[at] != nil) }
      return answer(entry, inquiries[at].clearance, now)
    }
  }

  private func entry(_ pending: Change?, _ row: IndexRow?) -> CacheEntry? {
    switch pending {
    case .keep(let entry): entry
    case .forget: nil
    case nil: row.flatMap(CacheEntry.init)
    }
  }

  private func answer(_ entry: CacheEntry, _ clearance: Clearance, _ now: Duration) -> Answer {
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

  func write(_ changes: [Change]) {
    index.write(changes.map(\.change))
  }

  /// What tells of most URLs that they are not in the index; nil for an index that is too large, or not to be had.
  var filter: KeyFilter? {
    index.numbers(atMost: KeyFilter.capacity).map { KeyFilter($0) }
  }

  /// Makes the index where there is none.
  func create() {
    index.create()
  }

  /// Has the index let go of what it looks at.
  func rest() {
    index.endReading()
  }

  func close() {
    index.close()
  }
}
