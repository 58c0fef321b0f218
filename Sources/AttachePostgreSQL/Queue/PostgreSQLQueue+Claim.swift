internal import Attache
package import AttacheQueue
internal import Synchronization

extension PostgreSQLQueue {
  package func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    let worker = try presence.enter()
    presence.record(span: request.span)
    try undoDoubted(.work, worker)
    try keepUp(.work, worker, span: request.span)
    var (claimed, remainder) = try take(request, worker)
    // Maintenance runs at most once in its interval, so rows may have become ready since. A claim that
    // found nothing can afford to look again.
    if claimed.rows.isEmpty, try keepUp(.work, worker, span: request.span, isDue: true) {
      (claimed, remainder) = try take(request, worker)
    }
    let leases = claimed.rows.map { row in
      Lease(
        token: row.token, line: row.line, attempt: row.attempt, expiresAt: row.expiresAt, deaths: row.deaths, deathsAlone: row.deathsAlone)
    }
    guard let remainder else { return Claim(leases: leases, hasSuspects: false, next: .zero) }
    let next = remainder.next ?? (remainder.hasAny ? .zero : nil)
    var claim = Claim(leases: leases, hasSuspects: remainder.hasSuspects && remainder.pause == nil, next: next)
    claim.pause = remainder.pause
    return claim
  }

  /// Leases payloads. Also asks what is left, unless it is known that more payloads are ready.
  private func take(_ request: ClaimRequest, _ worker: Int64) throws(QueueError) -> (ClaimStatements.Claimed, ClaimStatements.Remainder?) {
    let (call, floor) = begin(.work)
    return try trackingUnknownOutcome(.work, call) { attempt throws(SessionError) in
      let claimed = try ClaimStatements.work.run(
        attempt, limit: request.limit, bytes: request.maximumBytes, span: request.span, isAlone: request.isAlone, worker: worker,
        call: call,
        floor: request.isAlone ? nil : floor, uptime: uptime, isSynchronous: isSynchronous(isOfLease: true))
      note(.work, claimed)
      guard !claimed.hasMore || request.isAlone || claimed.rows.isEmpty else { return (claimed, nil) }
      return (claimed, try ClaimStatements.work.remainder(attempt, uptime: uptime, wall: wall))
    }
  }

  /// Runs a claim. If it throws, its leases are freed before the next claim, because nobody knows
  /// whether it has any.
  func trackingUnknownOutcome<Value>(
    _ table: LeaseTable, _ call: Int64, _ body: (SessionPool.Attempt) throws(SessionError) -> Value
  ) throws(QueueError) -> Value {
    do throws(QueueError) {
      return try pool.call(body)
    } catch {
      counters.withLock { $0.doubted[table] = call }
      throw error
    }
  }

  /// Frees what the last claim leased, if it threw.
  func undoDoubted(_ table: LeaseTable, _ worker: Int64) throws(QueueError) {
    guard let call = counters.withLock({ $0.doubted[table] }) else { return }
    try pool.call { attempt throws(SessionError) in
      try (table == .work ? ClaimStatements.work : .result).undo(
        attempt, worker: worker, call: call, isSynchronous: isSynchronous(isOfLease: true))
    }
    counters.withLock { $0.doubted[table] = nil }
  }

  /// Numbers a claim.
  func begin(_ table: LeaseTable) -> (call: Int64, floor: Floor?) {
    counters.withLock { counters in
      let call = (counters.calls[table] ?? 0) + 1
      counters.calls[table] = call
      return (call, counters.floors[table])
    }
  }

  /// Records where the next claim starts.
  func note(_ table: LeaseTable, _ claimed: ClaimStatements.Claimed) {
    counters.withLock { counters in
      guard claimed.hasMore, let last = claimed.rows.last else {
        counters.floors[table] = nil
        return
      }
      counters.floors[table] = Floor(rank: last.rank, moment: table == .result ? last.finishedAt : 0, id: last.id)
    }
  }

  /// Forgets where the next claim starts, because rows before that place are ready again.
  func forgetFloor(_ table: LeaseTable) {
    counters.withLock { $0.floors[table] = nil }
  }
}
