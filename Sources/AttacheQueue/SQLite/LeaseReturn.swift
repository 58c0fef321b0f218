internal import GRDB

/// The statements that give a leased row back.
struct LeaseReturn {
  private let now: QueueMoment
  private let ready: BatchStatement
  private let delayed: BatchStatement
  private let events: EventStatement

  init(_ table: LeaseTable, _ connection: Database, _ now: QueueMoment) throws {
    self.now = now
    let name = table.rawValue
    let end = "attempts = attempts + ?3, worker = NULL, fence = NULL, alone = NULL WHERE id = ?1 AND fence = ?2"
    ready = try connection.batch(
      """
      UPDATE \(name) SET deaths = deaths + ?4, deaths_alone = deaths_alone + ?5,
        state = iif(deaths + ?4 >= \(Lease.deathsOfSuspect), 1, 0), boot = NULL, until = NULL, \(end)
      """)
    delayed = try connection.batch(
      "UPDATE \(name) SET state = 2, boot = ?4, until = ?5, moment = (SELECT expires_at FROM payload WHERE payload.id = \(name).id), \(end)"
    )
    events = try connection.noting(table == .work ? .work : .delivery, now)
  }

  /// - Parameters:
  ///   - delay: how long the row cannot be claimed.
  ///   - text: why the attempt failed; nil is not recorded.
  ///   - deaths: how many holders died, when there is no delay.
  /// - Returns: whether the row was leased with this token.
  func run(
    _ token: LeaseToken, after delay: Duration = .zero, wasTried: Bool, _ text: String?, deaths: Int64 = 0, deathsAlone: Int64 = 0
  ) throws -> Bool {
    let tries: Int64 = wasTried ? 1 : 0
    let count =
      delay > .zero
      ? try delayed.run(token.id, token.fence, tries, now.boot, now.uptime + delay.microseconds)
      : try ready.run(token.id, token.fence, tries, deaths, deathsAlone)
    if count > 0, let text { try events.note(text, of: token.id) }
    return count > 0
  }
}
