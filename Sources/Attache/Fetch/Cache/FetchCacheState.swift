/// What a fetch knows of the HTTP cache: of the hop at hand, and how far its answer may be trusted.
/// On the loop only.
struct FetchCacheState {
  /// The hop's key, once it has been looked up.
  private(set) var key: IndexKey?
  /// Whether the index has a row for the hop.
  private var hasRow = false
  /// What the index has for the hop.
  private(set) var entry: CacheEntry?
  /// Whether the entry needs nothing but the address gate.
  private(set) var isFresh = false
  /// When the latest request was sent; wall clock.
  var asked = Duration.zero
  private var exchange: Freshness.Exchange?
  private var fields = CacheFields()
  private var entityTag: String?
  /// When the first redirect on the way, or the end of it, has to be asked for again.
  private(set) var trustedUntil: Duration?

  /// Takes the answer for a new hop.
  mutating func handle(_ answer: HTTPCache.LookupResult) {
    (key, hasRow, entry, isFresh) = (nil, true, nil, false)
    switch answer {
    case .nothing(let key, let hasRow): (self.key, self.hasRow) = (key, hasRow)
    case .fresh(let entry), .fenced(let entry): (key, self.entry, isFresh) = (entry.key, entry, true)
    case .stale(let entry): (key, self.entry) = (entry.key, entry)
    }
  }

  /// What the index has is of no use: its file has gone, or a 304 speaks of another.
  mutating func dropEntry() {
    (entry, isFresh) = (nil, false)
  }

  /// What makes the next request a conditional one.
  var conditions: [String] { entry?.conditions ?? [] }

  /// Takes a response's head.
  mutating func handle(_ head: ResponseHead, at now: Duration) {
    let exchange = Freshness.Exchange(asked: asked, answered: now)
    (self.exchange, fields) = (exchange, head.caching)
    entityTag = head.caching.tagsDiffer ? nil : CacheEntry.validator(head.entityTag)
    guard (300..<400).contains(head.status), head.status != 304 else { return }
    trust(until: now + Freshness.redirectLifetime(head.status, head.caching, exchange))
  }

  /// Within one run, the URL that was asked for answers as long as each step of its way may.
  mutating func trust(until moment: Duration) {
    trustedUntil = min(trustedUntil ?? moment, moment)
  }

  /// Whether a 304 may be of another file than the one that was asked about (RFC 9111, 4.3.4).
  var speaksOfAnother: Bool {
    guard let entityTag, !entityTag.hasPrefix("W/") else { return false }
    return entry?.entityTag != entityTag
  }

  /// What becomes of the index when the latest response has been accepted with its file.
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
    // What is stale at once and cannot be asked about is of no use to anybody.
    guard expiry > exchange.answered || !new.conditions.isEmpty else { return hasRow ? .forget(key) : .none }
    return .keep(new)
  }

  enum Conclusion {
    case none
    case keep(CacheEntry)
    case forget(IndexKey)
  }
}
