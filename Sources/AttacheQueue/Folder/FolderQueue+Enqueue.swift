extension FolderQueue {
  public func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    guard !payloads.isEmpty else { return 0 }
    return try locked { _ throws(QueueError) in
      let now = now()
      let first = try files.numbers(now).next
      var journal = FolderJournal()
      var next = first
      var keys: Set<String> = []
      do throws(QueueError) {
        for payload in payloads {
          let entry = FolderEntry(payload, id: next, now)
          if let key = entry.keyFile {
            guard keys.insert(key).inserted, !folder.has(key) else { continue }
            journal.make(key)
          }
          try journal.write(payload.line, to: entry.waiting(now), in: folder)
          next += 1
        }
      } catch {
        journal.discard(in: folder)
        throw error
      }
      guard next > first else { return 0 }
      journal.setNext(next)
      try journal.commit(to: files, isSynced: isSynced)
      return Int(next - first)
    }
  }

  public func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    try locked { _ throws(QueueError) in keys.count { folder.has(FolderEntry.file(ofKey: FolderFiles.digest($0))) } }
  }
}

extension FolderEntry {
  init(_ payload: NewPayload, id: Int64, _ now: FolderMoment) {
    self.init(id: id, enqueuedAt: now.wall)
    priority = payload.priority
    notBefore = payload.notBefore?.microseconds
    expiresAt = payload.expiresAt?.microseconds
    key = payload.key.map(FolderFiles.digest)
    if wait(now) == nil { notBefore = nil }
  }
}
