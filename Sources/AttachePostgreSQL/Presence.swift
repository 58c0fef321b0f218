internal import Attache
internal import AttacheQueue
internal import Glibc
internal import Synchronization

/// Shows the other workers that this one lives: a session that holds an advisory lock of the
/// worker's number until the process ends. The server releases the lock when the connection closes.
///
/// A thread watches the connection, and takes the lock again on another one when it is lost.
final class Presence: Sendable {
  private let pool: SessionPool
  private let name: String
  private let clock: (any QueueClock)?
  private let state = Mutex(State())
  private let entering = Mutex(())
  private let gate: (any InputGate)?

  private struct State {
    var number: Int64?
    var share: DeliveryShare?
    /// Whether another process holds a share that conflicts with this one, since the connection
    /// was lost.
    var hasLostShare = false
    /// The duration of the last leases, which get it again after the connection was lost.
    var span = Duration.seconds(60)
    var session: Session?
    var isWatched = false
    var hasEnded = false
  }

  /// The key of the lock by which a server is tested.
  static let probe: Int64 = 0x6171_7565_0000_0000
  /// The first half of the key of a queue's locks. The second is a worker's number, or 0 for the
  /// share in deliveries.
  static let lockSpace = "(SELECT oid::integer FROM pg_namespace WHERE nspname = current_schema())"
  /// The numbers of the workers whose locks are held.
  static let present = """
    (SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
      AND classid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    """

  /// - Parameter name: the machine's name, for people.
  init(_ pool: SessionPool, name: String, clock: (any QueueClock)?) {
    (self.pool, self.name, self.clock) = (pool, name, clock)
    gate = try? SystemMachine().makeInputGate()
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
      let (session, number) = try connect()
      state.withLock { state in (state.session, state.number) = (session, number) }
      watch()
      return number
    }
  }

  private func connect() throws(QueueError) -> (Session, Int64) {
    try pool.dedicatedCall { attempt throws(SessionError) in
      if let session = state.withLock(\.session), session.isConnected() { return try take(session, attempt) }
      return try take(attempt.session, attempt)
    }
  }

  private func take(_ session: Session, _ attempt: SessionPool.Attempt) throws(SessionError) -> (Session, Int64) {
    while true {
      let rows = try session.run([Execution(Self.take, .text(name))], waitsForDisk: true) { _ in attempt.pool.lateness(of: session) }
      if rows[0].count > 0 { return (session, rows[0].integer(0, 0)) }
      // A server's crash may have taken the sequence back, so the number exists.
      _ = try session.run([Execution(Self.unlockAll)]) { _ in attempt.pool.lateness(of: session) }
    }
  }

  // MARK: The share in deliveries

  /// Takes a share in the undelivered results.
  ///
  /// - Returns: false when others hold a share that conflicts with it.
  func enterDelivery(_ share: DeliveryShare) throws(QueueError) -> Bool {
    _ = try enter()
    let has = state.withLock { state -> Result<Bool, SessionError> in
      guard let session = state.session else { return .failure(.unreachable("the connection is lost")) }
      return Result { () throws(SessionError) in try self.lock(share, session) }
    }
    switch has {
    case .success(let has):
      if has { state.withLock { $0.share = share } }
      return has
    case .failure(let error): throw pool.failure(error)
    }
  }

  /// Whether the share was lost to another process.
  var hasLostShare: Bool { state.withLock(\.hasLostShare) }

  private static let lockShared = Statement("share_shared", "SELECT pg_try_advisory_lock_shared(\(lockSpace), 0)")
  private static let lockAlone = Statement("share_alone", "SELECT pg_try_advisory_lock(\(lockSpace), 0)")

  private func lock(_ share: DeliveryShare, _ session: Session) throws(SessionError) -> Bool {
    let statement = share == .amongDeliverers ? Self.lockShared : Self.lockAlone
    return try session.run([Execution(statement)]) { [pool] _ in pool.lateness(of: session) }[0].flag(0, 0)
  }

  // MARK: Watching

  /// Records the duration of leases.
  func note(span: Duration) { state.withLock { $0.span = span } }

  private func watch() {
    let isWatched = state.withLock { state in
      defer { state.isWatched = true }
      return state.isWatched
    }
    guard !isWatched else { return }
    // Without a thread, the next claim or renewal finds the loss.
    _ = try? SystemMachine().start("presence", .timely) { self.run() }
  }

  private func run() {
    while let descriptor = state.withLock({ $0.hasEnded ? nil : $0.session?.socket }) {
      _ = try? gate?.wait(for: descriptor, until: nil)
      let isLost = state.withLock { state in !state.hasEnded && state.session?.isConnected() != true }
      if isLost { comeBack() }
    }
  }

  /// Connects again, and takes the lock again.
  private func comeBack() {
    var pause = Duration.milliseconds(50)
    while let number = state.withLock({ $0.hasEnded ? nil : $0.number }) {
      if let session = try? pool.connect(), (try? restore(number, session)) != nil {
        return state.withLock { state in
          // The end may have come meanwhile.
          if !state.hasEnded { state.session = session }
        }
      }
      Pause.wait(pause)
      pause = min(pause * 2, .milliseconds(500))
    }
  }

  private static let lockNumber = Statement("lock_number", "SELECT pg_try_advisory_lock(\(lockSpace), $1::integer)")
  /// The server may not have noticed yet that the lost connection is lost.
  private static let endFormer = Statement(
    "end_former",
    """
    SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND pid <> pg_backend_pid()
      AND classid = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND objid = $1::bigint::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """)
  private static let comesBack = Statement(
    "comes_back",
    "INSERT INTO worker (number, name) VALUES ($1::bigint, $2::text) ON CONFLICT (number) DO UPDATE SET absent_since = NULL")
  private static func holds(_ table: LeaseTable) -> Statement {
    Statement(
      table == .work ? "holds_work" : "holds_result",
      """
      UPDATE \(table.rawValue) SET until = coalesce($2::bigint, clock_us()) + $3::bigint WHERE state = 3 AND worker = $1::bigint
      """)
  }
  /// The deaths that were counted while this worker was taken for dead.
  private static let lived = Statement(
    "lived",
    """
    UPDATE work SET deaths = deaths - 1, deaths_alone = deaths_alone - (taken_from < 0)::integer, taken_from = NULL,
      state = CASE WHEN state = 1 AND deaths - 1 < \(Lease.deathsOfSuspect) THEN 0 ELSE state END
    WHERE taken_from IN ($1::bigint, -$1::bigint)
    """)

  private func restore(_ number: Int64, _ session: Session) throws(SessionError) {
    let isLate = { [pool] (_: Duration) in pool.lateness(of: session) }
    let (share, span) = state.withLock { ($0.share, $0.span) }
    while !(try session.run([Execution(Self.lockNumber, .integer32(number))], isLate: isLate)[0].flag(0, 0)) {
      _ = try session.run([Execution(Self.endFormer, .integer(number))], isLate: isLate)
      Pause.wait(.milliseconds(10))
    }
    let times: [Parameter] = [.integer(clock?.uptime.microseconds), .integer(span.microseconds)]
    _ = try session.run(
      [
        Execution(Self.comesBack, .integer(number), .text(name)),
        Execution(Self.holds(.work), .integer(number), times[0], times[1]),
        Execution(Self.holds(.result), .integer(number), times[0], times[1]),
        Execution(Self.lived, .integer(number)),
      ], waitsForDisk: true, isLate: isLate)
    guard let share else { return }
    let has = try lock(share, session)
    state.withLock { $0.hasLostShare = !has }
  }

  // MARK: Ending

  /// Releases the locks, and closes the connection. The other workers see at once that this one has
  /// gone.
  func end() {
    state.withLock { state in
      if !state.hasEnded, let session = state.session, session.isConnected() {
        _ = try? session.run([Execution(Self.unlockAll)]) { $0 > .seconds(5) ? .isGone : .isAlive }
      }
      (state.hasEnded, state.session) = (true, nil)
    }
    gate?.ring()
  }
}
