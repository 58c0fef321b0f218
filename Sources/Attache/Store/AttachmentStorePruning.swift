internal import Glibc
internal import Synchronization

/// The result of a prune.
public struct PruneSummary: Hashable, Sendable {
  /// The number of files that were removed.
  public var filesRemoved = 0
  /// The size of the removed files, in bytes.
  public var bytesRemoved: Int64 = 0
  /// The number of files that remain.
  public var filesKept = 0
  /// The size of the remaining files, in bytes.
  public var bytesKept: Int64 = 0

  /// Creates a summary of a prune that found no files.
  public init() {}
}

extension AttachmentStore {
  /// Whether ``prune()`` is due: at the start, when the store exceeds its maximum size, when files
  /// may have reached the maximum age, and periodically to account for other processes. Cheap
  /// enough to check after each file.
  public var needsPruning: Bool {
    let now = clock()
    return ledger.withLock { $0.isPruneDue(now: now) }
  }

  /// Removes files that were not used for longer than the maximum age. If the store exceeds its
  /// maximum size, it also removes the least recently used files until the store is a sixteenth
  /// below the maximum. It also removes the unfinished files of dead processes.
  ///
  /// It reads the whole store, which takes time: call it on a thread that no line waits for. These
  /// files are kept:
  ///
  /// - pinned files
  /// - files that a queue holds (``hold(_:for:)``), unless its file has been gone for a week, or
  ///   nothing on this machine has used a queue on a server for 90 days
  /// - files used in the last ten minutes, when other processes use the store
  /// - files whose names are not names of the store
  ///
  /// - Returns: the result, or nil when another process is pruning this store at the moment.
  /// - Throws: ``StoreError`` when the store cannot be read.
  @discardableResult
  public func prune() throws(StoreError) -> PruneSummary? {
    try prune(sweepingIndex: true)
  }

  /// - Parameter sweepingIndex: whether to sweep the index even if no file was removed.
  private func prune(sweepingIndex: Bool) throws(StoreError) -> PruneSummary? {
    prunes.add(1, ordering: .sequentiallyConsistent)
    let now = clock()
    let bytesBefore = ledger.withLock { $0.bytes }
    guard let lock = try temporary.pruneLock(in: root) else {
      ledger.withLock { $0.notePrune(kept: nil, bytesBefore: bytesBefore, oldest: nil, now: now, limits: limits) }
      return nil
    }
    defer { withExtendedLifetime(lock) {} }
    // What only removes comes first: the disk may be full.
    try temporary.sweepAside()
    let isShared = try temporary.sweep() > 0
    StoreHolds.sweep(root, now: now)
    let eviction = StoreEviction(limits: limits, now: now, isShared: isShared)
    let (summary, oldest) = try carryOut(eviction)
    // A failure of the index affects only the cache, and the filter's own connection handles it.
    if sweepingIndex || summary.filesRemoved > 0 || indexIsLarge { try? IndexSweep(of: self)?.run() }
    ledger.withLock {
      $0.notePrune(kept: summary.bytesKept, bytesBefore: bytesBefore, oldest: oldest, now: now, limits: limits)
    }
    return summary
  }

  /// Prunes on a separate thread if a prune is due. A prune that fails is retried when it is next
  /// due.
  func pruneInBackground() {
    guard !isFetcher, needsPruning else { return }
    guard isPruning.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else { return }
    do {
      try Thread.start("prune") { [self] in
        do { _ = try prune(sweepingIndex: false) } catch { tell(error) }
        isPruning.store(false, ordering: .releasing)
      }.detach()
    } catch {
      isPruning.store(false, ordering: .releasing)
      tell(error)
    }
  }

  private func tell(_ error: any Error) {
    guard pruneMessages.withLock({ $0.allows(at: .now) }) else { return }
    pruneFailed.withLock(\.self)?("the store grows, because it cannot be pruned: \(error)")
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
    // The files are listed only now: the list of a large store takes megabytes, and most prunes do
    // not need it.
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

  /// Visits the store's own files in no particular order.
  private func forEachEntry(_ visit: (StoreEviction.Entry) -> Void) throws(StoreError) {
    for folder in try root.names() where StoreName.isFolder(folder) {
      guard let subfolder = try subfolder(folder) else { continue }
      for file in try subfolder.names() {
        guard let name = StoreName(folder: folder, fileName: file), let status = subfolder.status(of: file), status.isRegular else {
          continue
        }
        visit(StoreEviction.Entry(name: name, size: status.size, lastUse: status.lastUse, isHeld: status.isHeld))
      }
    }
  }

  /// Opens a subfolder of files. Returns nil, and leaves the entry alone, when it is not a folder
  /// or when this user may not read it.
  private func subfolder(_ name: String) throws(StoreError) -> StoreFolder? {
    do {
      return try root.folder(name)
    } catch let error where [ENOENT, ENOTDIR, ELOOP, EACCES].contains(error.call.code) {
      return nil
    }
  }
}
