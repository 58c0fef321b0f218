extension FolderQueue {
  public func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    try locked { handle throws(QueueError) in
      let slot = try enter(&handle)
      let worker = try slot.enter()
      let now = now()
      let hasMoreDrops = try FolderIntake(files, now, isSynced: isSynced).run()
      let wait = try shortest([takeOver(now, slot), ripen(now)])
      let fence = try files.numbers(now).fence + 1
      try files.setFence(fence)
      var lease = FolderLease(folder, now, fence: fence, worker: worker, request)
      do throws(QueueError) {
        if request.isAlone { try lease.takeSuspect() } else { try lease.takeReady() }
      } catch {
        lease.putBack()
        throw error
      }
      handle.leased.merge(lease.names) { _, new in new }
      let hasSuspects = try hasSuspects()
      let hasReady = try hasReady()
      let span = shortest([wait, lease.leases.isEmpty ? nil : request.span.microseconds]).map { Duration.microseconds(max(0, $0)) }
      return Claim(leases: lease.leases, hasSuspects: hasSuspects, next: hasMoreDrops || hasSuspects || hasReady ? .zero : span)
    }
  }

  /// The place of this handle among the workers.
  private func enter(_ handle: inout Handle) throws(QueueError) -> WorkerSlot {
    if let slot = handle.slot { return slot }
    let slot = try WorkerSlot(path: folder.path(of: FolderFiles.workers), mode: UInt32(folder.mode & 0o666))
    handle.slot = slot
    return slot
  }

  private func shortest(_ spans: [Int64?]) -> Int64? { spans.compactMap(\.self).min() }

  // MARK: What becomes ready

  /// Takes leases from whoever is gone or too late.
  ///
  /// - Returns: how long until the first of those that stay runs out; nil when none stays.
  private func takeOver(_ now: FolderMoment, _ slot: WorkerSlot) throws(QueueError) -> Int64? {
    var stays: Int64?
    var holders: [Int64: WorkerSlot.Holder] = [:]
    for name in try folder.names(in: "leased") {
      guard var entry = FolderEntry(name), let until = entry.until, let worker = entry.worker else { continue }
      let holder = holders[worker] ?? slot.holder(worker)
      holders[worker] = holder
      let isGone = entry.boot != now.boot || holder == .died || holder == .closed
      guard isGone || until <= now.uptime else {
        stays = min(stays ?? .max, until - now.uptime)
        continue
      }
      if holder != .closed {
        entry.deaths += 1
        entry.deathsAlone += entry.isAlone ? 1 : 0
      }
      entry.release()
      try folder.move("leased/\(name)", to: entry.waiting(now))
    }
    return stays
  }

  /// Makes ready what has become due.
  ///
  /// - Returns: how long until something more is due; nil when nothing waits.
  private func ripen(_ now: FolderMoment) throws(QueueError) -> Int64? {
    let slots = try folder.names(in: "later").compactMap { FolderSlot($0) }
    var wait: Int64?
    for slot in slots where slot.isDue(now) || isFirst(slot, of: slots) {
      let path = "later/\(slot.name)"
      for name in try folder.names(in: path) {
        guard var entry = FolderEntry(name) else { continue }
        if let span = entry.wait(now) {
          wait = min(wait ?? .max, span)
        } else {
          entry.release()
          entry.notBefore = nil
          try folder.move("\(path)/\(name)", to: entry.waiting(now))
        }
      }
      folder.removeFolder(path)
    }
    return wait
  }

  /// Whether nothing of its clock is due earlier.
  private func isFirst(_ slot: FolderSlot, of slots: [FolderSlot]) -> Bool {
    !slots.contains { $0.boot == slot.boot && $0.second < slot.second }
  }

  // MARK: What is ready

  private func hasSuspects() throws(QueueError) -> Bool { try !folder.names(in: "suspects").isEmpty }

  private func hasReady() throws(QueueError) -> Bool {
    for priority in try folder.names(in: "ready") {
      for bucket in try folder.names(in: "ready/\(priority)") where try !folder.names(in: "ready/\(priority)/\(bucket)").isEmpty {
        return true
      }
    }
    return false
  }
}
