internal import Attache
internal import AttacheQueue
internal import Synchronization

/// Shows other workers that this one is alive: a session that holds an advisory lock of the
/// worker's number. The server releases the lock when the connection closes.
///
/// A thread watches the connection. When it is lost, the thread connects again and takes the lock
/// again.
final class Presence: Sendable {
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

  /// The key of the lock by which a server is tested.
  static let probe: Int64 = 0x6171_7565_0000_0000
  /// The lock of the calls that release holds.
  static let holdLock = "\(probe) + 1 + \(lockSpace)"
  /// The first half of the key of a queue's locks. The second is a worker's number, or 0 for the
  /// share in deliveries.
  static let lockSpace = "(SELECT oid::integer FROM pg_namespace WHERE nspname = current_schema())"
  /// The numbers of the workers whose locks are held.
  static let present = """
    (SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
      AND classid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    """

  /// - Parameter name: the host's name, for people.
  init(_ pool: SessionPool, name: String, clock: (any QueueClock)?) {
    (self.pool, self.name, self.clock) = (pool, name, clock)
    gate = try? SystemMachine().makeInputGate()
    pool.onLoss.withLock { $0 = { [weak self] in self?.test() } }
  }

  /// This worker's number; nil before ``enter()``.
  var current: Int64? { state.withLock(\.number) }

  private static let take = Statement(
    "take_number",
    """
    WITH next AS MATERIALIZED (SELECT nextval('worker_number') AS number),
      locked AS MATERIALIZED (SELECT number, pg_try_advisory_lock(\(lockSpace), number::integer) AS has FROM next)
    INSERT INTO worker (number, name) SELECT number, $1::text FROM locked WHERE has ON CONFLICT DO NOTHING RETURNING number
    """)
  private static let unlockAll = Statement("unlock_all", "SELECT pg_advisory_unlock_all()")

  /// Returns this worker's number. The first call takes one.
  func enter() throws(QueueError) -> Int64 {
    if let number = current { return number }
    return try entering.withLock { _ throws(QueueError) in
      if let number = current { return number }
      let (session, number) = try pool.dedicatedCall { attempt throws(SessionError) in (attempt.session, try takeNumber(attempt)) }
      state.withLock { state in (state.session, state.number) = (session, number) }
      watch()
      return number
    }
  }

  private func takeNumber(_ attempt: SessionPool.Attempt) throws(SessionError) -> Int64 {
    while true {
      let rows = try attempt.run([Execution(Self.take, .text(name))], isSynchronous: true)
      if rows[0].count > 0 { return rows[0].integer(0, 0) }
      // A crash of the server may have set the sequence back, so the number exists.
      _ = try attempt.run([Execution(Self.unlockAll)])
    }
  }

  // MARK: The share in deliveries

  /// Takes a share in the undelivered results.
  ///
  /// - Returns: false when others hold a share that conflicts with it.
  func enterDelivery(_ share: DeliveryShare) throws(QueueError) -> Bool {
    _ = try enter()
    let end = MonotonicInstant.now.advanced(by: pool.patience)
    while true {
      // Under the lock, because the thread reads what the server sends.
      let answer = state.withLock { state -> Result<Bool, SessionError> in
        guard let session = state.session else { return .failure(.unreachable("the connection is lost")) }
        let answer = Result { () throws(SessionError) in try lock(share, session) }
        if case .success(true) = answer { state.share = share }
        return answer
      }
      switch answer {
      case .success(let has): return has
      case .failure(let error):
        // The thread connects again.
        guard MonotonicInstant.now < end else { throw pool.failure(error) }
        test()
        Pause.wait(.milliseconds(100))
      }
    }
  }

  /// Whether the share was lost to another process.
  var hasLostShare: Bool { state.withLock(\.hasLostShare) }

  private static let lockShared = Statement("share_shared", "SELECT pg_try_advisory_lock_shared(\(lockSpace), 0)")
  private static let lockAlone = Statement("share_alone", "SELECT pg_try_advisory_lock(\(lockSpace), 0)")

  private func lock(_ share: DeliveryShare, _ session: Session) throws(SessionError) -> Bool {
    let statement = share == .amongDeliverers ? Self.lockShared : Self.lockAlone
    return try pool.run([Execution(statement)], on: session)[0].flag(0, 0)
  }

  // MARK: Watching

  /// Records the duration of leases.
  func record(span: Duration) { state.withLock { $0.span = span } }

  private func watch() {
    // Without a thread, a lost connection costs the worker its leases after a while.
    (try? SystemMachine().start("presence", .timely) { self.run() })?.detach()
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
      if let session = try? pool.connect(), (try? restore(number, session)) != nil {
        return state.withLock { state in
          // `end()` may have run meanwhile.
          if !state.hasEnded { (state.session, state.reconnection) = (session, .now) }
        }
      }
      Pause.wait(pause)
      pause = min(pause * 2, .milliseconds(500))
    }
  }

  private static let lockNumber = Statement("lock_number", "SELECT pg_try_advisory_lock(\(lockSpace), $1::integer)")
  /// The server may not have noticed yet that the old connection is lost.
  private static let endFormer = Statement(
    "end_former",
    """
    SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND pid <> pg_backend_pid()
      AND classid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND objid = $1::bigint::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """)
  private static let rejoin = Statement(
    "rejoin",
    "INSERT INTO worker (number, name) VALUES ($1::bigint, $2::text) ON CONFLICT (number) DO UPDATE SET absent_since = NULL")
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
    while !(try pool.run([Execution(Self.lockNumber, .integer32(number))], on: session)[0].flag(0, 0)) {
      _ = try pool.run([Execution(Self.endFormer, .integer(number))], on: session)
      Pause.wait(.milliseconds(10))
    }
    let times: [Parameter] = [.integer(clock?.uptime.microseconds), .integer(span.microseconds)]
    _ = try pool.run(
      [
        Execution(Self.rejoin, .integer(number), .text(name)),
        Execution(Self.extendLeases(.work), .integer(number), times[0], times[1]),
        Execution(Self.extendLeases(.result), .integer(number), times[0], times[1]),
        Execution(Self.undoDeaths, .integer(number)),
      ], on: session, isSynchronous: true)
    guard let share else { return }
    let has = try lock(share, session)
    state.withLock { $0.hasLostShare = !has }
  }

  /// How long the lock of another worker may be missing before this one takes its leases over.
  ///
  /// A worker that has just started does not wait longer: often it replaces one that was killed.
  func allowedAbsence(_ times: UpkeepTimes) -> Duration {
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
