internal import Synchronization

/// What fetchers' processes add to a store that its host has open.
extension AttachmentStore {
  /// Takes over a file that a fetcher has stored, pinned once.
  ///
  /// - Parameter prunes: how many prunes had begun when the fetcher was asked. Since a later one
  ///   may have taken the file, it is looked for.
  /// - Returns: false when it has gone.
  func takeOver(_ file: StoredFile, sincePrune prunes: UInt64) -> Bool {
    ledger.withLock { ledger in
      ledger.pin(file.name)
      ledger.syncs.forget(file.name)
    }
    let isPruned = isPruning.load(ordering: .sequentiallyConsistent) || self.prunes.load(ordering: .sequentiallyConsistent) != prunes
    guard !isPruned || touch(file) else {
      unpin(file)
      return false
    }
    return true
  }

  /// Notes what fetchers have added, and prunes when that is due.
  func note(addedByGuests bytes: Int64) {
    if bytes > 0 { ledger.withLock { $0.add(bytesOfGuests: bytes) } }
    pruneInBackground()
  }
}
