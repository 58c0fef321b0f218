internal import Attache
internal import AttacheQueue
internal import Synchronization

/// Shows other workers that this one is alive: a session that holds the advisory lock whose random
/// key is in the worker's row. The server releases the lock when the connection closes.
///
/// A thread watches the connection. When it is lost, the thread connects again and takes the lock
/// again.
final class WorkerPresence: Sendable {
  private let pool: SessionPool
  private let name: String
  private let clock: (any QueueClock)?
  /// Held during calls of the session, so its readers may wait for the network.
  private let state = Mutex(State())
  private let entering = Mutex(())
  private let gate: (any InputGate)?

  private struct State {
    var number: Int64?
    var share: DeliveryShare?
    /// Whether another process holds a share that conflicts with this one, since the connection
    /// was lost.
    var hasLostShare = false
    /// The duration of the last leases. After a reconnection, leases are extended by it.
    var span = Duration.seconds(60)
    var session: Session?
    var hasEnded = false
    /// Whether another connection was lost, so that this one must be tested.
    var isDoubtful = false
    /// When the worker last reconnected.
    var reconnection: MonotonicInstant?
  }

  /// A new key of an advisory lock. Any role that may connect can take advisory locks, and see in
  /// `pg_locks` which are held. So nobody can take this lock before its owner does, and after the
  /// owner has gone it does not count for a role that may not be a worker (``present``).
  static var randomKey: Int64 { Int64.random(in: 1...Int64.max) }
  /// The key of a lock in `pg_locks`.
  static let key = "CASE WHEN objsubid = 1 THEN classid::bigint << 32 | objid::bigint END"
  /// The numbers of the workers whose locks are held by a session whose user may be a worker: by its
  /// rights on the table, or as a member of the owner, which it may have to name with `SET ROLE`.
  static let present = """
    (SELECT number FROM worker WHERE key IN (
      SELECT \(key) FROM pg_locks JOIN pg_stat_activity AS activity USING (pid)
        JOIN pg_namespace AS space ON space.nspname = current_schema()
      WHERE locktype = 'advisory' AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (has_table_privilege(activity.usesysid, to_regclass('worker'), 'INSERT')
          OR pg_has_role(activity.usesysid, space.nspowner, 'MEMBER'))))
    """

  /// - Parameter name: the host's name, for people.
  init(_ pool: SessionPool, name: String, clock: (any QueueClock)?) {
    (self.pool, self.name, self.clock) = (pool, name, clock)
    gate = try? SystemMachine().makeInputGate()
    pool.onLoss.withLock { $0 = { [weak self] in self?.test() } }
  }

  /// This worker's number; nil before ``enter()``.
  var current: Int64? { state.withLock(\.number) }

  private static let lockKey = Statement("lock_key", "SELECT pg_try_advisory_lock($1::bigint)")
  private static let take = Statement(
    "take_number",
    """
    INSERT INTO worker (number, name, key) VALUES (nextval('worker_number'), $1::text, $2::bigint)
    ON CONFLICT DO NOTHING RETURNING number
    """)
  private static let counts = Statement("counts_as_present", "SELECT $1::bigint IN \(present)")
  private static let unlockAll = Statement("unlock_all", "SELECT pg_advisory_unlock_all()")

  /// Returns this worker's number. The first call takes one.
  func enter() throws(QueueError) -> Int64 {
    if let number = current { return number }
    return try entering.withLock { _ throws(QueueError) in
      if let number = current { return number }
      let (session, number) = try pool.dedicatedCall { attempt throws(SessionError) in (attempt.session, try takeNumber(attempt)) }
      state.withLock { state in (state.session, state.number) = (session, number) }
      try watch()
      return number
    }
  }

  private func takeNumber(_ attempt: SessionPool.Attempt) throws(SessionError) -> Int64 {
    while true {
      let key = Parameter.integer(Self.randomKey)
      // The lock is held before others can see the row.
      let rows = try attempt.run([Execution(Self.lockKey, key), Execution(Self.take, .text(name), key)], isSynchronous: true)
      guard rows[0].flag(0, 0), rows[1].count > 0 else {
        // A crash of the server may have set the sequence back, so the number exists.
        _ = try attempt.run([Execution(Self.unlockAll)])
        continue
      }
      let number = rows[1].integer(0, 0)
      guard try attempt.run([Execution(Self.counts, .integer(number))])[0].flag(0, 0) else {
        throw .refused(code: "42501", "the user who logs in has no right to use the schema")
      }
      return number
    }
  }

  // MARK: The share in deliveries

  /// Takes a share in the undelivered results.
  ///
  /// - Returns: false when others hold a share that conflicts with it.
  func enterDelivery(_ share: DeliveryShare) throws(QueueError) -> Bool {
    let number = try enter()
    let end = MonotonicInstant.now.advanced(by: pool.timeLimit)
    let wait = SessionPool.LockTimeLimit(pool)
    while true {
      // Under the lock, because the thread reads what the server sends.
      let answer = state.withLock { state -> Result<Bool, SessionError> in
        guard let session = state.session else { return .failure(.unreachable("the connection is lost")) }
        let answer = Result { () throws(SessionError) in try take(share, number, session) }
        if case .success(true) = answer { state.share = share }
        return answer
      }
      switch answer {
      case .success(let has): return has
      case .failure(let error):
        if let holder = error.lockHolder {
          try wait.check(holder)
          continue
        }
        if !error.isOfConnection, !error.isTransient { throw pool.failure(error) }
        // The thread connects again.
        guard MonotonicInstant.now < end else { throw pool.failure(error) }
        test()
        Pause.wait(.milliseconds(100))
      }
    }
  }

  /// Whether the share was lost to another process.
  var hasLostShare: Bool { state.withLock(\.hasLostShare) }

  /// Lets one process at a time take a share. Only a role that may change the table can hold this
  /// lock.
  private static let lockTurn = Statement("lock_turn", "SELECT 1 FROM turn FOR UPDATE")
  private static let takeShare = Statement(
    "take_share",
    """
    UPDATE worker SET share = $2::bigint WHERE number = $1::bigint AND NOT EXISTS (
      SELECT 1 FROM worker AS other WHERE other.number <> $1::bigint AND greatest(other.share, $2::bigint) = 2 AND other.share IS NOT NULL
        AND other.number IN \(present))
    RETURNING 1
    """)

  private func take(_ share: DeliveryShare, _ number: Int64, _ session: Session) throws(SessionError) -> Bool {
    let take = Execution(Self.takeShare, .integer(number), .integer(share == .amongDeliverers ? 1 : 2))
    return try pool.run([Execution(Self.lockTurn), take], on: session, isSynchronous: true)[1].count > 0
  }

  // MARK: Watching

  /// Records the duration of leases.
  func record(span: Duration) { state.withLock { $0.span = span } }

  /// - Throws: ``QueueError/system(_:)``. Without the thread, a lost connection would cost the worker
  ///   its leases.
  private func watch() throws(QueueError) {
    do throws(SystemError) {
      try SystemMachine().start("presence", .timely) { self.run() }.detach()
    } catch {
      throw .system(error)
    }
  }

  /// Tests the connection soon. Safe from any thread.
  ///
  /// Without this test, the loss of an idle connection to a machine that vanished is noticed only
  /// after 11 s.
  private func test() {
    state.withLock { $0.isDoubtful = true }
    gate?.ring()
  }

  /// Whether the connection is there, as far as is known.
  var isConnected: Bool { state.withLock { $0.session?.isConnected() == true } }

  private static let alive = Statement("alive", "SELECT 1")
  private static let testLimit = Duration.seconds(2)

  private func run() {
    while let descriptor = state.withLock({ $0.hasEnded ? nil : $0.session?.socket }) {
      // Without a gate, looks twice a second.
      if gate == nil || (try? gate?.wait(for: descriptor, until: nil)) == nil { Pause.wait(.milliseconds(500)) }
      let isLost = state.withLock { state in
        guard !state.hasEnded else { return false }
        guard let session = state.session, session.isConnected() else { return true }
        guard state.isDoubtful else { return false }
        state.isDoubtful = false
        return (try? session.run([Execution(Self.alive)], checkAfter: Self.testLimit) { _ in .isGone }) == nil
      }
      if isLost { reconnect() }
    }
  }

  /// Connects again, and takes the lock again.
  private func reconnect() {
    var pause = Duration.milliseconds(50)
    while let number = state.withLock({ $0.hasEnded ? nil : $0.number }) {
      do throws(SessionError) {
        let session = try pool.connect()
        try restore(number, session)
        return state.withLock { state in
          // `end()` may have run meanwhile.
          if !state.hasEnded { (state.session, state.reconnection) = (session, .now) }
        }
      } catch {
        // The pool reports it.
      }
      Pause.wait(pause)
      pause = min(pause * 2, .milliseconds(500))
    }
  }

  private static let rejoin = Statement(
    "rejoin",
    """
    INSERT INTO worker (number, name, key) VALUES ($1::bigint, $2::text, $3::bigint)
    ON CONFLICT (number) DO UPDATE SET absent_since = NULL, key = excluded.key, share = NULL
    """)
  private static func extendLeases(_ table: LeaseTable) -> Statement {
    Statement(
      table == .work ? "extend_work" : "extend_result",
      """
      UPDATE \(table.rawValue) SET until = coalesce($2::bigint, clock_us()) + $3::bigint WHERE state = 3 AND worker = $1::bigint
      """)
  }
  /// Takes back the deaths that were counted while this worker was absent.
  private static let undoDeaths = Statement(
    "undo_deaths",
    """
    UPDATE work SET deaths = deaths - 1, deaths_alone = deaths_alone - (taken_from < 0)::integer, taken_from = NULL,
      state = CASE WHEN state = 1 AND deaths - 1 < \(Lease.deathsOfSuspect) THEN 0 ELSE state END
    WHERE taken_from IN ($1::bigint, -$1::bigint)
    """)

  private func restore(_ number: Int64, _ session: Session) throws(SessionError) {
    let (share, span) = state.withLock { ($0.share, $0.span) }
    // A new key: the server may not have noticed yet that the old connection is lost.
    var key = Self.randomKey
    while !(try pool.run([Execution(Self.lockKey, .integer(key))], on: session)[0].flag(0, 0)) { key = Self.randomKey }
    let times: [Parameter] = [.integer(clock?.uptime.microseconds), .integer(span.microseconds)]
    _ = try pool.run(
      [
        Execution(Self.rejoin, .integer(number), .text(name), .integer(key)),
        Execution(Self.extendLeases(.work), .integer(number), times[0], times[1]),
        Execution(Self.extendLeases(.result), .integer(number), times[0], times[1]),
        Execution(Self.undoDeaths, .integer(number)),
      ], on: session, isSynchronous: true)
    guard let share else { return }
    let has = try take(share, number, session)
    state.withLock { $0.hasLostShare = !has }
  }

  /// How long the lock of another worker may be missing before this one takes its leases over.
  ///
  /// A worker that has just started does not wait longer: often it replaces one that was killed.
  func allowedAbsence(_ times: MaintenanceTimes) -> Duration {
    guard let reconnection = state.withLock(\.reconnection), reconnection.duration(to: .now) < times.absenceAfterReconnection else {
      return times.absence
    }
    return times.absenceAfterReconnection
  }

  // MARK: Ending

  /// Releases the locks, and closes the connection. The other workers see at once that this one has
  /// gone.
  func end() {
    state.withLock { state in
      if !state.hasEnded, let session = state.session, session.isConnected() {
        _ = try? session.run([Execution(Self.unlockAll)], checkAfter: .seconds(5)) { _ in .isGone }
      }
      (state.hasEnded, state.session) = (true, nil)
    }
    gate?.ring()
  }
}
