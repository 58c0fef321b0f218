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
