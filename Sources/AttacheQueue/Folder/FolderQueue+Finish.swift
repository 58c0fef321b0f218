internal import Attache

extension FolderQueue {
  public func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try change(leases, \.self) { entry, _, now in
      (entry.boot, entry.until) = (now.boot, now.uptime + span.microseconds)
      return entry.leased
    }
  }

  public func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    let refused = try change(payloads, \.token) { entry, payload, now in
      entry.release()
      entry.attempts += payload.wasTried ? 1 : 0
      let rest = entry.expiresAt.map { $0 - now.wall } ?? .max
      let delay = min(payload.delay.microseconds, rest)
      if delay > 0 { (entry.boot, entry.until) = (now.boot, now.uptime + delay) }
      return entry.waiting(now)
    }
    try syncIfAlways()
    return refused
  }

  /// Renames the files of leases, all or none unless the process is killed.
  ///
  /// - Parameter place: changes what is known of a payload, and tells where it belongs.
  /// - Returns: the leases that the worker no longer holds.
  private func change<Item: Sendable>(
    _ items: [Item], _ token: (Item) -> LeaseToken, _ place: (inout FolderEntry, Item, FolderMoment) -> String
  ) throws(QueueError) -> Set<LeaseToken> {
    guard !items.isEmpty else { return [] }
    return try locked { handle throws(QueueError) in
      let now = now()
      var refused: Set<LeaseToken> = []
      var moved: [(from: String, to: String)] = []
      var names = handle.leased
      for item in items {
        let token = token(item)
        guard let name = try leasedName(of: token, names), var entry = FolderEntry(name) else {
          refused.insert(token)
          names[token] = nil
          continue
        }
        let (from, to) = ("leased/\(name)", place(&entry, item, now))
        do throws(QueueError) {
          try folder.move(from, to: to)
        } catch {
          for (from, to) in moved { _ = try? folder.move(to, to: from) }
          throw error
        }
        moved.append((from, to))
        names[token] = to == entry.leased ? entry.text : nil
      }
      handle.leased = names
      return refused
    }
  }

  /// What the file of a lease is called in `leased`; nil when it is held no more.
  func leasedName(of token: LeaseToken, _ known: [LeaseToken: String]) throws(QueueError) -> String? {
    if let name = known[token] { return folder.has("leased/\(name)") ? name : nil }
    return try folder.names(in: "leased").first { name in
      FolderEntry(name).map { $0.id == token.id && $0.fence == token.fence } ?? false
    }
  }

  public func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard !results.isEmpty else { return [] }
    return try locked { handle throws(QueueError) in
      let now = now()
      var refused: Set<LeaseToken> = []
      var finished: Set<LeaseToken> = []
      var journal = FolderJournal()
      do throws(QueueError) {
        for result in results {
          guard !finished.contains(result.token), let name = try leasedName(of: result.token, handle.leased), let entry = FolderEntry(name)
          else {
            refused.insert(result.token)
            continue
          }
          finished.insert(result.token)
          try journal.finish(result, entry, at: now, in: folder)
        }
      } catch {
        journal.discard(in: folder)
        throw error
      }
      if !journal.isEmpty { try journal.commit(to: files, isSynced: isSynced) }
      for token in finished.union(refused) { handle.leased[token] = nil }
      return refused
    }
  }
}

extension FolderJournal {
  /// Adds a result in the place of its lease: first the record, by which there is one.
  fileprivate mutating func finish(_ result: FinishedPayload, _ leased: FolderEntry, at now: FolderMoment, in folder: QueueFolder)
    throws(QueueError)
  {
    var entry = leased
    entry.release()
    let holds = Set(result.holds).sorted()
    let isKept = result.output != nil && (result.isDead || result.outcome == .fallback)
    entry.result = FolderEntry.Result(
      outcome: result.outcome, reason: result.reason, isDead: result.isDead, hasOriginal: isKept, hasHolds: !holds.isEmpty,
      finishedAt: now.wall)
    if !holds.isEmpty {
      try write(Array(holds.joined(separator: "\0").utf8), to: entry.holds, in: folder)
      for path in holds { make(entry.mark(ofHold: path)) }
    }
    try write(result.record, to: entry.record, in: folder)
    link(entry.record, to: entry.visibleRecord)
    if let output = result.output { try write(output, to: entry.line, in: folder) }
    switch (result.output, isKept) {
    case (nil, _): move(leased.leased, to: entry.line)
    case (_, true): move(leased.leased, to: entry.original)
    case (_, false): remove(leased.leased)
    }
  }
}
