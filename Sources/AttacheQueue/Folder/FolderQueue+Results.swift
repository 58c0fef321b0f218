extension FolderQueue {
  public func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    try locked { _ throws(QueueError) in
      let end = request.stopsAtUndecided ? try firstUndecided(after: request.after) : .max
      var page = ResultPage(entries: [], last: request.after, isAtEnd: true)
      var room = request.maximumBytes
      for bucket in try resultBuckets(from: request.after / FolderEntry.bucket) {
        for entry in try results(in: bucket) where entry.id > request.after && entry.id < end {
          guard let result = entry.result, !request.onlyUnread || !result.isRead else {
            page.last = entry.id
            continue
          }
          // Whoever takes a result's file away has had it.
          guard let size = folder.status(of: entry.line)?.size else { continue }
          room -= size + (folder.status(of: entry.record)?.size ?? 0)
          guard page.entries.count < request.limit, room >= 0 || page.entries.isEmpty else {
            page.isAtEnd = false
            return page
          }
          guard let line = try folder.bytes(of: entry.line), let record = try folder.bytes(of: entry.record) else { continue }
          page.entries.append(
            ResultPage.Entry(id: entry.id, line: line, record: record, outcome: result.outcome, reason: result.reason))
          page.last = entry.id
        }
      }
      return page
    }
  }

  public func anyHold() throws(QueueError) -> String? {
    try locked { _ throws(QueueError) in
      for bucket in try resultBuckets() {
        for entry in try results(in: bucket) where entry.result?.hasHolds == true && entry.result?.isRead == false {
          if let path = try folder.bytes(of: entry.holds)?.split(separator: 0).first { return String(decoding: path, as: UTF8.self) }
        }
      }
      return nil
    }
  }

  /// The folders of results, in order.
  func resultBuckets(from first: Int64 = 0) throws(QueueError) -> [Int64] {
    try folder.names(in: "results").compactMap { Int64($0) }.filter { $0 >= first }.sorted()
  }

  /// The results of one folder, in order.
  func results(in bucket: Int64) throws(QueueError) -> [FolderEntry] {
    try folder.names(in: "results/\(bucket)").compactMap { FolderEntry($0) }.sorted { $0.id < $1.id }
  }

  /// The number of the first payload behind another that has no result.
  private func firstUndecided(after number: Int64) throws(QueueError) -> Int64 {
    var first = Int64.max
    func look(in place: String) throws(QueueError) {
      for name in try folder.names(in: place) {
        if let id = Int64(name.prefix { $0 != "," && $0 != ";" }), id > number { first = min(first, id) }
      }
    }
    for priority in try folder.names(in: "ready") {
      for bucket in try folder.names(in: "ready/\(priority)").compactMap({ Int64($0) }).sorted() where bucket >= number / FolderEntry.bucket
      {
        guard bucket * FolderEntry.bucket < first else { break }
        try look(in: "ready/\(priority)/\(bucket)")
      }
    }
    for slot in try folder.names(in: "later") { try look(in: "later/\(slot)") }
    try look(in: "suspects")
    try look(in: "leased")
    return first
  }

  public func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] {
    try locked { _ in paths.filter { !FolderEntry.isHeld($0, in: folder) } }
  }

  public func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    guard !ids.isEmpty else { return [] }
    return try locked { _ throws(QueueError) in
      var journal = FolderJournal()
      for (bucket, ids) in Dictionary(grouping: ids, by: { $0 / FolderEntry.bucket }) {
        let wanted = Set(ids)
        for var entry in try results(in: bucket) where wanted.contains(entry.id) && entry.result?.isRead == false {
          let unread = entry
          entry.result?.isRead = true
          if unread.result?.hasHolds == true {
            // Two renames that belong together.
            journal.move(unread.record, to: entry.record)
            journal.move(entry.holds, to: entry.freedHolds)
          } else {
            try folder.move(unread.record, to: entry.record)
          }
        }
      }
      if !journal.isEmpty { try journal.commit(to: files, isSynced: false) }
      try syncIfAlways()
      return try FolderEntry.takeFreedHolds(in: folder)
    }
  }
}
