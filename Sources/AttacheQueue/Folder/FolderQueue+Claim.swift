extension FolderQueue {
  public func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    try locked { handle throws(QueueError) in
      let slot = try enter(&handle)
      let worker = try slot.enter()
      let now = now()
      let hasMoreDrops = try FolderIntake(files, now, isSynced: isSynced).run()
      let lapse = try takeOver(now, slot)
      try ripen(now)
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
      let hasSuspects = try hasSuspects
      let hasReady = try hasReady
      if hasMoreDrops || hasSuspects || hasReady { return Claim(leases: lease.leases, hasSuspects: hasSuspects, next: .zero) }
      let spans = [lapse, lease.leases.isEmpty ? nil : request.span.microseconds, try firstDue(now)]
      let next = spans.compactMap(\.self).min().map { Duration.microseconds(max(0, $0)) }
      return Claim(leases: lease.leases, hasSuspects: hasSuspects, next: next)
    }
  }

  /// The place of this handle among the workers.
  private func enter(_ handle: inout Handle) throws(QueueError) -> WorkerSlot {
    if let slot = handle.slot { return slot }
    let slot = try WorkerSlot(path: folder.path(of: FolderFiles.workers), mode: FileMode(of: folder))
    handle.slot = slot
    return slot
  }

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
      if holder == .died || entry.boot != now.boot && holder == .unknown {
        entry.deaths += 1
        entry.deathsAlone += entry.isAlone ? 1 : 0
      }
      entry.release()
      try folder.move("leased/\(name)", to: entry.waiting(now))
    }
    return stays
  }

  /// Makes ready what has become due.
  private func ripen(_ now: FolderMoment) throws(QueueError) {
    for slot in try slots where slot.isDue(now) {
      for name in try folder.names(in: slot.place) {
        guard var entry = FolderEntry(name), entry.wait(now) == nil else { continue }
        entry.release()
        entry.notBefore = nil
        try folder.move("\(slot.place)/\(name)", to: entry.waiting(now))
      }
      folder.removeFolder(slot.place)
    }
  }

  // MARK: What is there

  private var slots: [FolderSlot] {
    get throws(QueueError) { try folder.names(in: "later").compactMap { FolderSlot($0) } }
  }

  /// Names of a second that are looked at for what is due first: however many there are, it is no more than that second too late.
  private static let glance = 1_000

  /// How long until something is due; nil when nothing waits.
  private func firstDue(_ now: FolderMoment) throws(QueueError) -> Int64? {
    let slots = try slots
    var wait: Int64?
    for slot in slots where !slots.contains(where: { $0.boot == slot.boot && $0.second < slot.second }) {
      for name in try folder.names(in: slot.place).prefix(Self.glance) {
        if let span = FolderEntry(name)?.wait(now) { wait = min(wait ?? .max, span) }
      }
    }
    return wait
  }

  private var hasSuspects: Bool {
    get throws(QueueError) { try hasPayload(in: "suspects") }
  }

  private var hasReady: Bool {
    get throws(QueueError) {
      for priority in try folder.names(in: "ready").compactMap({ Int($0) }) {
        for bucket in try folder.names(in: "ready/\(priority)").compactMap({ Int64($0) }) {
          if try hasPayload(in: "ready/\(priority)/\(bucket)") { return true }
        }
      }
      return false
    }
  }

  private func hasPayload(in place: String) throws(QueueError) -> Bool {
    try folder.names(in: place).contains { FolderEntry($0) != nil }
  }
}
