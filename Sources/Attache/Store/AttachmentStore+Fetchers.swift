internal import Synchronization

/// Accounts for files that fetcher processes add to a store that this host has open.
extension AttachmentStore {
  /// Takes ownership of a file that a fetcher has stored, and pins it once.
  ///
  /// - Parameter prunes: the number of prunes that had begun when the request was sent. If a later
  ///   prune may have removed the file, this method checks that the file still exists.
  /// - Returns: false when the file is gone.
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

  /// Adds the bytes that fetchers have stored to the count, and starts a prune when one is due.
  func note(addedByFetchers bytes: Int64) {
    if bytes > 0 { ledger.withLock { $0.add(bytesOfFetchers: bytes) } }
    pruneInBackground()
  }
}
