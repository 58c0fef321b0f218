/// A loop's side of the HTTP cache: gathers inquiries for a turn, and rows for a while, before the index's thread is troubled with them.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class CacheDesk: @unchecked Sendable {
  private let loop: EventLoop
  private let index: CacheIndex
  private var store: AttachmentStore { index.store }

  private var batch = CacheBatch()
  /// By URL.
  private var changes: [String: CacheShelf.Change] = [:]
  private var timer: TimerEntry?

  /// Rows that are written together: a transaction costs as much as several of them.
  private static let portion = 256
  /// How long a row may wait for others. What is killed meanwhile loses these rows.
  private static let patience = Duration.milliseconds(250)

  init(loop: EventLoop, index: CacheIndex) {
    (self.loop, self.index) = (loop, index)
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
    let key = IndexKey(url.text, roots: url.scheme == .https ? index.roots : [])
    guard index.mayContain(key.number) else { return reply(.nothing(key, hasRow: false)) }
    batch.add(CacheShelf.Inquiry(key: key, clearance: clearance, pending: changes[url.text]), patience: patience, reply)
  }

  /// Called at the end of a turn: sends the inquiries on.
  func turnEnded() {
    guard !batch.isEmpty else { return }
    let batch = batch
    self.batch = CacheBatch()
    let timer = loop.schedule(at: loop.now.advanced(by: batch.patience)) { batch.answer(nil) }
    index.answer(batch.inquiries) { [loop, store] answers in
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
    index.confirm(file) { [loop] isThere in loop.post { reply(isThere) } }
  }

  func keep(_ entry: CacheEntry, for url: String) {
    index.noteKept(entry.key.number)
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
      index.rest()
    }
  }

  private func write() {
    guard !changes.isEmpty else { return }
    index.write(Array(changes.values))
    changes.removeAll(keepingCapacity: true)
  }

  /// Hands on what is left to be written.
  func close() {
    if let timer { loop.cancel(timer) }
    timer = nil
    write()
  }
}
