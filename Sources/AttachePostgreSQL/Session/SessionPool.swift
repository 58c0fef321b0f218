internal import Attache
internal import AttacheQueue
internal import Synchronization

/// The connections of a queue: one for each call under way. It reconnects when a connection is
/// lost, and repeats calls.
final class SessionPool: Sendable {
  private let servers: [ServerAddress]
  /// How long a call waits for a server.
  let timeLimit: Duration
  let connecting: Connecting
  private let waits: LockWaits
  private let absence: ServerAbsence
  private let state = Mutex(State())
  /// Whether the pool is closed. A call then makes no further attempt.
  private let isClosed = Atomic<Bool>(false)
  /// Whether calls no longer wait for a server.
  private let stopsWaiting = Atomic<Bool>(false)
  /// The queue's address, for messages.
  let name: String

  /// Called when a call loses its connection, on the thread of the call.
  let onLoss = Mutex<(@Sendable () -> Void)?>(nil)

  private struct State {
    var idle: [Session] = []
    /// The server that answered last.
    var preferred = 0
    /// The same server at the address that answered.
    var preferredAddress: ServerAddress?
  }

  /// The first wait between attempts to connect; each further wait doubles, up to the last.
  private static let (firstPause, lastPause) = (Duration.milliseconds(100), Duration.seconds(1))
  /// How many idle sessions are kept.
  private static let maximumIdle = 4
  /// How long a statement waits for a lock before the server ends it, and the call looks whether its
  /// wait is over, and repeats it. A shorter time makes calls lose their turn more often.
  static let lockTimeout = "1s"
  /// When a call whose reply is missing looks who holds a lock that it waits for. Less than
  /// ``lockTimeout``, because the server knows this only while the call waits.
  private static let lookAfter = Duration.milliseconds(500)

  init(
    _ servers: [ServerAddress], name: String, timeLimit: Duration, connecting: Connecting = Connecting(), waits: LockWaits = .process
  ) {
    (self.servers, self.name, self.timeLimit, self.connecting, self.waits) = (servers, name, timeLimit, connecting, waits)
    absence = ServerAbsence(name, waits)
  }

  // MARK: Calls

  /// The state of a call that may be repeated.
  final class Attempt {
    /// Whether an earlier attempt may have been carried out.
    let isRepeated: Bool
    /// The session of this attempt.
    let session: Session
    private let pool: SessionPool
    /// Whether a transaction of this attempt was carried out.
    fileprivate private(set) var hasCommitted = false

    fileprivate init(isRepeated: Bool, session: Session, pool: SessionPool) {
      (self.isRepeated, self.session, self.pool) = (isRepeated, session, pool)
    }

    /// Runs statements in one transaction.
    func run(_ executions: [Execution], isSynchronous: Bool? = nil) throws(SessionError) -> [Rows] {
      let rows = try pool.run(executions, on: session, isSynchronous: isSynchronous)
      hasCommitted = true
      return rows
    }
  }

  /// Runs a call. Repeats it on another session when the connection is lost, and on the same one
  /// after a deadlock, until the time limit is over.
  ///
  /// Before it repeats a call, it waits until the server process of the lost attempt has ended. So
  /// that attempt is complete, or will never be carried out.
  ///
  /// - Parameter body: may run several times. It must do nothing twice
  ///   (``Attempt/isRepeated``).
  func call<Value>(_ body: (Attempt) throws(SessionError) -> Value) throws(QueueError) -> Value {
    try call(returnsSession: true, body)
  }

  /// Runs a call on a session that does not return to the pool, because the caller keeps it.
  func dedicatedCall<Value>(_ body: (Attempt) throws(SessionError) -> Value) throws(QueueError) -> Value {
    try call(returnsSession: false, body)
  }

  private func call<Value>(returnsSession: Bool, _ body: (Attempt) throws(SessionError) -> Value) throws(QueueError) -> Value {
    let end = MonotonicInstant.now.advanced(by: timeLimit)
    let lock = LockTimeLimit(self)
    var lostBackend: Session.Backend?
    var isRepeated = false
    var pause = Self.firstPause
    while true {
      do throws(SessionError) {
        let session = if returnsSession, let session = idle() { session } else { try connect() }
        if let backend = lostBackend {
          try waitForEnd(of: backend, session, until: end)
          lostBackend = nil
        }
        let attempt = Attempt(isRepeated: isRepeated, session: session, pool: self)
        do throws(SessionError) {
          let value: Value = try body(attempt)
          // Another thread may have found the server away since this session was opened.
          absence.end()
          if returnsSession { giveBack(session) }
          return value
        } catch {
          isRepeated = isRepeated || session.isBroken || attempt.hasCommitted
          guard session.isBroken else {
            giveBack(session)
            throw error
          }
          lostBackend = session.backend
          dropIdle()
          onLoss.withLock(\.self)?()
          throw error
        }
      } catch {
        guard error.isTransient || error.isOfConnection else { throw failure(error) }
        if let holder = error.lockHolder { try lock.check(holder) } else { lock.end() }
        guard MonotonicInstant.now < end, mayWait else {
          throw timedOut(error, isRepeated: isRepeated)
        }
      }
      Pause.wait(pause)
      pause = min(pause * 2, Self.lastPause)
    }
  }

  /// Runs a call without waiting for a server that does not answer: for opening and removing a
  /// queue.
  ///
  /// - Parameter waitsForLocks: whether to repeat the call, as long as another session holds a lock.
  func callOnce<Value>(waitsForLocks: Bool = true, _ body: (Attempt) throws(SessionError) -> Value) throws(QueueError) -> Value {
    let lock = LockTimeLimit(self)
    while true {
      do throws(SessionError) {
        let session = if let session = idle() { session } else { try connect() }
        defer { giveBack(session) }
        return try body(Attempt(isRepeated: false, session: session, pool: self))
      } catch {
        if let holder = error.lockHolder, waitsForLocks {
          try lock.check(holder)
          continue
        }
        throw error.isOfConnection ? .unavailable("\(name): \(error.text); check the address and the server") : failure(error)
      }
    }
  }

  /// How long a call is repeated while another session holds a lock that it needs: as long as it
  /// would wait for a server.
  final class LockTimeLimit {
    private let pool: SessionPool
    private let start = MonotonicInstant.now
    private var wait: LockWait?

    init(_ pool: SessionPool) {
      self.pool = pool
    }

    /// - Parameter holder: the session that holds the lock.
    /// - Throws: ``QueueError/locked(_:)`` when the wait is over.
    func check(_ holder: String) throws(QueueError) {
      let wait = wait ?? LockWait(pool.waits, for: pool.name, since: start, limit: pool.timeLimit)
      self.wait = wait
      guard wait.goesOn({ holder }) else { throw .locked(wait.failure) }
    }

    /// Ends the wait, because the call has failed for another reason.
    func end() {
      wait = nil
    }
  }

  /// Runs statements in one transaction, until the server no longer works on them.
  ///
  /// - Throws: with ``SessionError/lockNotAvailable``, the text of the error is the session that
  ///   holds the lock.
  func run(_ executions: [Execution], on session: Session, isSynchronous: Bool? = nil) throws(SessionError) -> [Rows] {
    var waitsForStandby = false
    var (asked, holder) = (Duration.zero, nil as String?)
    let interval = min(Self.lookAfter, connecting.checkAfter)
    do throws(SessionError) {
      return try session.run(executions, isSynchronous: isSynchronous, checkAfter: interval) { [self] waited in
        if waited < interval * 2 { holder = lockHolder(of: session) }
        guard waited - asked >= connecting.checkAfter else { return .isRunning }
        asked = waited
        guard waited < timeLimit, !stopsWaiting.load(ordering: .relaxed), let event = waitEvent(of: session) else { return .isGone }
        waitsForStandby = event == Self.waitOfCommit
        return .isRunning
      }
    } catch {
      if error.lockHolder != nil { throw .refused(code: SessionError.lockNotAvailable, holder ?? "another session of the server") }
      guard waitsForStandby, case .lost = error else { throw error }
      throw .lost("\(session.server): a commit waits for a synchronous standby, and too few are connected; start one")
    }
  }

  // MARK: Sessions

  private func idle() -> Session? {
    while true {
      guard let session = state.withLock({ $0.idle.popLast() }) else { return nil }
      if session.isConnected() { return session }
    }
  }

  func giveBack(_ session: Session) {
    guard !session.isBroken, !isClosed.load(ordering: .relaxed) else { return }
    state.withLock { state in
      if state.idle.count < Self.maximumIdle { state.idle.append(session) }
    }
  }

  /// After a failover, all connections lead to the wrong server.
  private func dropIdle() {
    // Released outside the lock, because closing a connection takes time.
    _ = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
  }

  /// Connects to the first server that accepts writes, beginning with the one that did last. Tries
  /// one address of each server before a second one of any.
  func connect() throws(SessionError) -> Session {
    let first = state.withLock(\.preferred)
    let order = servers.indices.map { (first + $0) % servers.count }
    var failures: [String] = []
    // All hosts are looked up at the same time.
    for server in servers { server.hostToLookUp.map(connecting.lookup.begin) }
    let found = order.map { addresses(of: servers[$0], &failures) }
    for round in 0..<(found.map(\.count).max() ?? 0) {
      for (index, addresses) in zip(order, found) where round < addresses.count {
        guard failures.isEmpty || mayWait else { break }
        do throws(SessionError) {
          let session = try Session.connect(addresses[round], within: connecting.limit)
          state.withLock { ($0.preferred, $0.preferredAddress) = (index, addresses[round]) }
          absence.end()
          return session
        } catch {
          failures.append(error.text)
        }
      }
    }
    let text = failures.joined(separator: "; ")
    if mayWait { absence.note(text) }
    throw .unreachable(text)
  }

  /// Returns a server at each address of its host, beginning with the one that answered last.
  private func addresses(of server: ServerAddress, _ failures: inout [String]) -> [ServerAddress] {
    guard let host = server.hostToLookUp else { return [server] }
    switch connecting.lookup.addresses(of: host, within: connecting.lookupLimit) {
    case .failure(let failure):
      failures.append("\(server): \(failure.text)")
      return []
    case .success(let found):
      let (addresses, preferred) = (found.map(server.at), state.withLock(\.preferredAddress))
      return addresses.filter { $0 == preferred } + addresses.filter { $0 != preferred }
    }
  }

  /// Whether calls still wait for a server.
  private var mayWait: Bool { !isClosed.load(ordering: .relaxed) && !stopsWaiting.load(ordering: .relaxed) }

  /// Lets calls give up as if their time limit were over. Safe from any thread.
  func stopWaiting() { stopsWaiting.store(true, ordering: .relaxed) }

  func close() {
    isClosed.store(true, ordering: .relaxed)
    dropIdle()
  }

  // MARK: Errors

  private func timedOut(_ error: SessionError, isRepeated: Bool) -> QueueError {
    let end = stopsWaiting.load(ordering: .relaxed) ? "the command was told to stop" : "given up after \(timeLimit.text)"
    let text = "\(name): \(error.text); \(end)"
    return isRepeated ? .unknown(text) : .unavailable(text)
  }

  /// Converts a server's refusal. The classes are those of PostgreSQL, appendix A.
  func failure(_ error: SessionError) -> QueueError {
    guard case .refused(let code, _) = error else { return .unavailable("\(name): \(error.text)") }
    return switch code {
    case "53100": .full("\(name): the server's disk is full (\(error.text)); free space")
    case "53300": .unavailable("\(name): \(error.text); raise max_connections, or use fewer workers")
    case "42501": .unavailable("\(name): \(error.text); grant this user the role that owns the schema of the queue")
    case "42P01", "3F000": .unavailable("\(name): there is no such queue; `attache enqueue` creates one")
    case SessionError.lockNotAvailable: .locked("\(name): \(error.text) holds a lock; try again later")
    case let code where code.hasPrefix("28"): .unavailable("\(name): \(error.text); check the user, its password file and pg_hba.conf")
    case let code where code.hasPrefix("3D"): .unavailable("\(name): \(error.text); create the database")
    default: .failed("\(name): \(error.text)")
    }
  }
}
