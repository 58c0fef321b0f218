internal import Synchronization

/// The files that this run has fetched, and the answers that they give. Safe from any thread.
final class FetchMemory: Sendable {
  let configuration: MediaFetcher.Configuration
  let gate: URLGate
  let store: AttachmentStore
  let machine: any Machine
  private let session: Mutex<SessionCache>

  /// Whether another process answers from what was fetched: this one only says how long it may.
  private let isGuest: Bool

  /// - Parameters:
  ///   - trust: how long a file is taken to be in the store without a look.
  ///   - isGuest: whether this is a fetcher's process, whose host remembers.
  ///   - hasIndex: whether an index on disk, which all can ask, knows what is forgotten here.
  init(
    _ configuration: MediaFetcher.Configuration, store: AttachmentStore, trust: Duration = SessionCache.trust, isGuest: Bool = false,
    hasIndex: Bool = true, machine: any Machine
  ) {
    (self.configuration, self.store, self.isGuest, self.machine) = (configuration, store, isGuest, machine)
    gate = URLGate(configuration.policy)
    let hasIndex = configuration.cache == .http && hasIndex
    session = Mutex(SessionCache(trust: trust, capacity: hasIndex ? SessionCache.capacityBeforeIndex : SessionCache.capacity))
  }

  // MARK: What this run has fetched

  /// The file of a URL, and whether it was seen in the store so recently that it need not be looked
  /// for.
  func file(for url: String) -> (file: StoredFile, isFresh: Bool)? {
    guard configuration.cache != .off, !isGuest else { return nil }
    return session.withLock { $0.file(for: url, at: machine.now) }
  }

  /// Remembers a file that has just been stored or found in the store.
  ///
  /// - Parameter end: until when it answers for the URL.
  func keep(_ file: StoredFile, for url: String, until end: MonotonicInstant? = nil) {
    session.withLock { $0.insert(file, for: url, at: machine.now, until: end) }
  }

  /// Until when a remembered file answers for its URL; nil for one that is not remembered.
  func end(of url: String) -> MonotonicInstant? {
    session.withLock { $0.end(of: url) }
  }

  /// Answers with a remembered file when the store still has it, and forgets it otherwise.
  ///
  /// - Returns: false when it has gone.
  func answerAfterLook(_ url: CheckedURL, for waiter: FetchWaiter, with file: StoredFile) -> Bool {
    // A file that was found stays only when it was pinned before.
    store.pin(file)
    defer { store.unpin(file) }
    let isThere = store.touch(file)
    session.withLock { isThere ? $0.renew(url.text, at: machine.now) : $0.remove(url.text) }
    if isThere { answer(waiter, with: file) }
    return isThere
  }

  // MARK: Answers

  /// Answers from the cache, when that knows the file and has seen it in the store of late.
  ///
  /// - Returns: false when it is to be fetched.
  func answerAtOnce(_ url: CheckedURL, for waiter: FetchWaiter) -> Bool {
    guard let (file, isFresh) = file(for: url.text), isFresh else { return false }
    answer(waiter, with: file)
    return true
  }

  func answer(_ waiter: FetchWaiter, with file: StoredFile) {
    store.pin(file)
    waiter.note { record in
      record.cache = .hit
      record.type = file.type
      record.bytes = file.size
    }
    if !waiter.complete(.success(file)) { store.unpin(file) }
  }

  /// Gives each waiter a pin of its own: the first the one that the file came with.
  func handOut(_ file: StoredFile, to waiters: [FetchWaiter]) {
    for _ in waiters.dropFirst() { store.pin(file) }
    if waiters.isEmpty { store.unpin(file) }
    for waiter in waiters where !waiter.complete(.success(file)) { store.unpin(file) }
  }
}
