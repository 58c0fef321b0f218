public import Attache

extension FolderQueue {
  public func counts() throws(QueueError) -> QueueCounts {
    try locked { _ throws(QueueError) in
      let now = now()
      var counts = QueueCounts()
      var oldest: FolderEntry?
      func look(in place: String, _ count: (FolderEntry) -> Void) throws(QueueError) {
        for name in try folder.names(in: place) {
          guard let entry = FolderEntry(name) else { continue }
          count(entry)
          if oldest.map({ entry.id < $0.id }) ?? true { oldest = entry }
        }
      }
      for priority in try folder.names(in: "ready") {
        for bucket in try folder.names(in: "ready/\(priority)") { try look(in: "ready/\(priority)/\(bucket)") { _ in counts.ready += 1 } }
      }
      for slot in try folder.names(in: "later") {
        try look(in: "later/\(slot)") { if $0.wait(now) == nil { counts.ready += 1 } else { counts.waiting += 1 } }
      }
      try look(in: "suspects") { _ in counts.ready += 1 }
      try look(in: "leased") { _ in counts.leased += 1 }
      counts.oldest = oldest.map { max(.zero, .microseconds(now.wall - $0.enqueuedAt)) }
      counts.ready += try FolderIntake.waiting(in: folder).count
      for bucket in try resultBuckets() {
        for case let result? in try results(in: bucket).map(\.result) { counts.add(result, now) }
      }
      return counts
    }
  }

  public func retry(_ reason: Reason?) throws(QueueError) -> Int {
    try locked { _ throws(QueueError) in
      let now = now()
      return try forEachResult { (entry, journal: inout FolderJournal) in
        guard let result = entry.result, result.isDead || result.outcome == .fallback, reason == nil || result.reason == reason else {
          return false
        }
        let original = result.hasOriginal ? entry.original : entry.line
        // Whoever took the file away has had the result.
        guard folder.has(original) else { return false }
        var again = entry
        (again.attempts, again.deaths, again.deathsAlone, again.result) = (0, 0, 0, nil)
        journal.move(original, to: again.waiting(now))
        journal.forget(entry)
        return true
      }
    }
  }

  public func purge(olderThan age: Duration) throws(QueueError) -> (payloads: Int, released: [String]) {
    let (payloads, released) = try locked { _ throws(QueueError) -> Purge in
      let before = (clock.wall - age).microseconds
      let count = try forEachResult { (entry, journal: inout FolderJournal) in
        guard let result = entry.result, result.finishedAt <= before else { return false }
        if let key = entry.keyFile { journal.remove(key) }
        journal.forget(entry)
        return true
      }
      return Purge(payloads: count, released: try FolderEntry.takeFreedHolds(in: folder))
    }.both
    return (payloads, released)
  }

  private struct Purge: Sendable {
    var payloads: Int
    var released: [String]

    var both: (Int, [String]) { (payloads, released) }
  }

  /// Changes results, so many at a time.
  ///
  /// - Parameter change: adds what is to be done; false leaves the result alone.
  /// - Returns: how many were changed.
  private func forEachResult(_ change: (FolderEntry, inout FolderJournal) -> Bool) throws(QueueError) -> Int {
    var count = 0
    for bucket in try resultBuckets() {
      var journal = FolderJournal()
      for entry in try results(in: bucket) where change(entry, &journal) { count += 1 }
      guard !journal.isEmpty else { continue }
      journal.removeFolder("results/\(bucket)")
      try journal.commit(to: files, isSynced: isSynced)
    }
    return count
  }
}

extension FolderJournal {
  /// Removes what there is of a result, and frees what it holds.
  fileprivate mutating func forget(_ entry: FolderEntry) {
    remove(entry.line)
    remove(entry.visibleRecord)
    if entry.result?.hasOriginal == true { remove(entry.original) }
    if entry.result?.hasHolds == true { move(entry.holds, to: entry.freedHolds) }
    // Last, since a result is there as long as its record.
    remove(entry.record)
  }
}

extension QueueCounts {
  fileprivate mutating func add(_ result: FolderEntry.Result, _ now: FolderMoment) {
    if result.isDead { dead += 1 } else { done += 1 }
    if !result.isRead { unread += 1 }
    let age = now.wall - result.finishedAt
    if age >= 0, age < 60_000_000 { finishedLastMinute += 1 }
    if age >= 0, age < Self.recentSpan.microseconds { finishedLately += 1 }
  }
}
