/// The loop's side of the HTTP cache: gathers inquiries for a turn, and rows for a while, before a media thread is troubled with them.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class CacheDesk: @unchecked Sendable {
  private let loop: EventLoop
  private let worker: MediaWorker
  private let shelf: CacheShelf
  private let store: AttachmentStore
  /// What tells this run's root certificates from others.
  private let roots: [UInt8]

  private var batch = CacheBatch()
  /// By URL.
  private var changes: [String: CacheShelf.Change] = [:]
  private var timer: TimerEntry?
  /// nil as long as nobody knows what the index has.
  private var filter: KeyFilter?
  private var filterEnds: MonotonicInstant?
  /// Whether there was no index, and nobody has seen to one yet.
  private var lacksIndex = false
  /// The keys that were kept since a new filter was asked for; nil when none is.
  private var keptSince: [Int64]?

  /// Rows that are written together: a transaction costs as much as several of them.
  private static let portion = 256
  /// How long a row may wait for others. What is killed meanwhile loses these rows.
  private static let patience = Duration.milliseconds(250)

  /// How long a filter does not know what other processes write.
  private static let filterTime = Duration.seconds(60)

  /// How long the end of a run waits for the last rows.
  static let closingPatience = Duration.milliseconds(500)

  init(loop: EventLoop, worker: MediaWorker, store: AttachmentStore, limits: MediaLimits, roots: [UInt8]) {
    (self.loop, self.worker, self.store, self.roots) = (loop, worker, store, roots)
    shelf = CacheShelf(store, limits: limits)
    lacksIndex = !store.hasIndex
    guard lacksIndex else { return }
    (filter, filterEnds) = (KeyFilter([]), loop.now.advanced(by: Self.filterTime))
  }

  /// The wall clock that expiry is told by, since 1970.
  var now: Duration { store.clock() }

  /// Looks a URL up that has passed this run's gates as far as `clearance` says.
  ///
  /// - Parameters:
  ///   - patience: how long the answer may take. A disk that blocks must not take the whole budget before anything is asked of an origin.
  ///   - reply: called on the loop, at once or in a later turn.
  func lookUp(
    _ url: CheckedURL, _ clearance: CacheShelf.Clearance, patience: Duration, _ reply: @escaping @Sendable (CacheShelf.Answer) -> Void
  ) {
    let key = IndexKey(url.text, roots: url.scheme == .https ? roots : [])
    renewFilter()
    if lacksIndex {
      lacksIndex = false
      // While the first transfer is under way, so that the end of a short run need not wait for it.
      worker.perform { [shelf] in shelf.create() }
    }
    if let filter, !filter.mayContain(key.number) { return reply(.nothing(key, hasRow: false)) }
    batch.add(CacheShelf.Inquiry(key: key, clearance: clearance, pending: changes[url.text]), patience: patience, reply)
  }

  /// Has the filter filled when it is old.
  private func renewFilter() {
    guard keptSince == nil, filterEnds.map({ $0 <= loop.now }) ?? true else { return }
    keptSince = []
    // Behind the rows that are on their way into the index.
    worker.perform { [self, loop, shelf] in
      let filter = shelf.filter
      loop.post { [self] in take(filter) }
    }
  }

  private func take(_ filter: KeyFilter?) {
    self.filter = filter
    for number in keptSince ?? [] { self.filter?.insert(number) }
    keptSince = nil
    filterEnds = loop.now.advanced(by: Self.filterTime)
  }

  /// Called at the end of a turn: sends the inquiries on.
  func turnEnded() {
    guard !batch.isEmpty else { return }
    let batch = batch
    self.batch = CacheBatch()
    let timer = loop.schedule(at: loop.now.advanced(by: batch.patience)) { batch.answer(nil) }
    worker.performNext { [loop, shelf, store] in
      let answers = shelf.answers(batch.inquiries)
      loop.post {
        loop.cancel(timer)
        guard !batch.answer(answers) else { return }
        for case .fresh(let entry) in answers { store.unpin(entry.file) }
      }
    }
    startTimer()
  }

  /// Looks whether a file is still there; if so, it comes back pinned.
  func confirm(_ file: StoredFile, _ reply: @escaping @Sendable (Bool) -> Void) {
    worker.perform { [loop, shelf] in
      let isThere = shelf.pin(file)
      loop.post { reply(isThere) }
    }
  }

  func keep(_ entry: CacheEntry, for url: String) {
    filter?.insert(entry.key.number)
    keptSince?.append(entry.key.number)
    note(.keep(entry), for: url)
  }

  func forget(_ key: IndexKey, for url: String) {
    note(.forget(key), for: url)
  }

  private func note(_ change: CacheShelf.Change, for url: String) {
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
    timer = loop.schedule(at: loop.now.advanced(by: Self.patience)) { [self] in
      timer = nil
      write()
      worker.perform { [shelf] in shelf.rest() }
    }
  }

  private func write() {
    guard !changes.isEmpty else { return }
    let batch = Array(changes.values)
    changes.removeAll(keepingCapacity: true)
    worker.perform { [shelf] in shelf.write(batch) }
  }

  /// Writes what is left and closes the index; tells on the media thread what the user should know of it.
  func close(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    if let timer { loop.cancel(timer) }
    timer = nil
    write()
    worker.perform { [shelf] in
      shelf.close()
      done(shelf.warning)
    }
  }
}
