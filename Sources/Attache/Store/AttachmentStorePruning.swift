internal import Glibc
internal import Synchronization

/// What a prune did.
public struct PruneSummary: Hashable, Sendable {
  public var filesRemoved = 0
  public var bytesRemoved: Int64 = 0
  public var filesKept = 0
  public var bytesKept: Int64 = 0

  public init() {}
}

extension AttachmentStore {
  /// Whether it is time for ``prune()``: at the start, when the store has grown beyond its size,
  /// when files may have come of age, and now and then for the sake of other processes. Cheap
  /// enough to ask after each file.
  public var needsPruning: Bool {
    let now = clock()
    return ledger.withLock { $0.isPruneDue(now: now) }
  }

  /// Removes files that were not used for longer than the maximum age, and, when the store exceeds
  /// its maximum size, the least recently used until it is a sixteenth below. What dead processes
  /// left unfinished goes too.
  ///
  /// It reads the whole store and takes its time: it belongs on a thread that no line waits for.
  /// Pinned files stay, so do those that a queue holds (``hold(_:for:)``) unless the queue has been
  /// gone for a week, so does, when other processes use the store, what was used in the last ten
  /// minutes, and so does everything that does not bear one of the store's names.
  ///
  /// - Returns: what was done, or nil when another process is pruning this store at the moment.
  @discardableResult
  public func prune() throws(StoreError) -> PruneSummary? {
    try prune(sweepingIndex: true)
  }

  /// - Parameter sweepingIndex: whether the index is swept although no file was removed.
  private func prune(sweepingIndex: Bool) throws(StoreError) -> PruneSummary? {
    prunes.add(1, ordering: .sequentiallyConsistent)
    let now = clock()
    let bytesBefore = ledger.withLock { $0.bytes }
    guard let lock = try temporary.pruneLock(in: root) else {
      ledger.withLock { $0.notePrune(kept: nil, bytesBefore: bytesBefore, oldest: nil, now: now, limits: limits) }
      return nil
    }
    defer { withExtendedLifetime(lock) {} }
    StoreHolds.sweep(root, now: now)
    let eviction = StoreEviction(limits: limits, now: now, isShared: try temporary.sweep() > 0)
    let (summary, oldest) = try carryOut(eviction)
    // What goes wrong with the index costs the cache alone, and the filter's own connection sees to
    // it.
    if sweepingIndex || summary.filesRemoved > 0 || indexIsLarge { try? IndexSweep(of: self)?.run() }
    ledger.withLock {
      $0.notePrune(kept: summary.bytesKept, bytesBefore: bytesBefore, oldest: oldest, now: now, limits: limits)
    }
    return summary
  }

  /// Prunes on a thread of its own if it is time; a prune that fails is tried again when it is next
  /// due.
  func pruneInBackground() {
    guard !isGuest, needsPruning else { return }
    guard isPruning.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else { return }
    do {
      try Thread.start("prune") { [self] in
        _ = try? prune(sweepingIndex: false)
        isPruning.store(false, ordering: .releasing)
      }.detach()
    } catch {
      isPruning.store(false, ordering: .releasing)
    }
  }

  private func carryOut(_ eviction: StoreEviction) throws(StoreError) -> (PruneSummary, oldest: Duration?) {
    var summary = PruneSummary()
    var oldest: Duration?
    try forEachEntry { entry in
      summary.filesKept += 1
      summary.bytesKept += entry.size
      if !entry.isHeld { oldest = min(oldest ?? entry.lastUse, entry.lastUse) }
    }
    guard eviction.isNeeded(bytes: summary.bytesKept, oldest: oldest) else { return (summary, oldest) }
    // Listed only now: the list of a large store takes megabytes, and most prunes need none.
    var entries: [StoreEviction.Entry] = []
    try forEachEntry { entries.append($0) }
    let victims = eviction.victims(among: entries) { name in ledger.withLock { $0.isPinned(name) } }
    let removed = Set(victims.filter(evict).map(\.name))
    return entries.reduce(into: (PruneSummary(), nil)) { result, entry in
      if removed.contains(entry.name) {
        result.0.filesRemoved += 1
        result.0.bytesRemoved += entry.size
      } else {
        result.0.filesKept += 1
        result.0.bytesKept += entry.size
        if !entry.isHeld { result.1 = min(result.1 ?? entry.lastUse, entry.lastUse) }
      }
    }
  }

  /// Visits the store's own files, in no order.
  private func forEachEntry(_ visit: (StoreEviction.Entry) -> Void) throws(StoreError) {
    for folder in try root.names() where StoreName.isFolder(folder) {
      guard let shelf = try shelf(folder) else { continue }
      for file in try shelf.names() {
        guard let name = StoreName(folder: folder, fileName: file), let status = shelf.status(of: file), status.isRegular else { continue }
        visit(StoreEviction.Entry(name: name, size: status.size, lastUse: status.lastUse, isHeld: status.isHeld))
      }
    }
  }

  /// A folder of files; nil when what bears the name is no folder, or not one that this user may
  /// read: it is left alone.
  private func shelf(_ name: String) throws(StoreError) -> StoreFolder? {
    do {
      return try root.folder(name)
    } catch let error where [ENOENT, ENOTDIR, ELOOP, EACCES].contains(error.call.code) {
      return nil
    }
  }
}
