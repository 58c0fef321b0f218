internal import Attache
internal import AttacheQueue

/// What the server processes of sessions wait for, and their ends.
extension SessionPool {
  /// Asks the server of a session which other session holds the lock that it waits for.
  ///
  /// - Returns: the session with its role, its program and its address, as far as the server shows
  ///   them to this role; nil when it waits for no lock.
  func lockHolder(of session: Session) -> String? {
    guard let other = try? Session.connect(session.server, within: connecting.limit) else { return nil }
    let find = Execution(Self.findHolder, .integer(session.backend.process))
    let rows = try? other.run([find], checkAfter: connecting.limit) { _ in .isGone }
    guard let rows = rows?.first, rows.count > 0 else { return nil }
    return rows.text(0, 0)
  }

  /// Without a role, the server process is one of the server's own, such as autovacuum.
  private static let findHolder = Statement(
    "find_holder",
    """
    SELECT 'process ' || pid || ' of the server (' || concat_ws(', ', 'role ' || usename, nullif(left(application_name, 40), ''), host(client_addr)) || ')'
    FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1::bigint::integer)) ORDER BY xact_start, pid LIMIT 1
    """)

  /// Asks the server of a session what it waits for while it works on a call.
  ///
  /// - Returns: PostgreSQL's name of the event, which may be empty; nil when the server no longer works
  ///   on the call, or does not answer.
  func waitEvent(of session: Session) -> String? {
    let other: Session
    do throws(SessionError) {
      other = try Session.connect(session.server, within: connecting.limit)
    } catch {
      // A server that refuses another connection still answers.
      return error.text.contains("FATAL") ? "" : nil
    }
    let find = Execution(Self.find, .integer(session.backend.process), .integer(session.backend.start))
    let rows = try? other.run([find], checkAfter: connecting.limit) { _ in .isGone }
    guard let rows = rows?.first, rows.count > 0 else { return nil }
    return rows.text(0, 0)
  }

  private static let find = Statement(
    "find_backend",
    """
    SELECT coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = $1::bigint AND \(Session.backendStart) = $2::bigint
    """)
  private static let terminate = Statement(
    "terminate_backend",
    """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = $1::bigint AND \(Session.backendStart) = $2::bigint
    """)
  /// The event that a commit waits for while a synchronous standby is missing.
  static let waitOfCommit = "SyncRep"
  private static let endPause = Duration.milliseconds(20)

  /// Waits until the server process of a lost attempt has gone. It is told to end, unless it waits
  /// for a standby: its commit is done then, and must not become visible before it is safe.
  func waitForEnd(of backend: Session.Backend, _ session: Session, until end: MonotonicInstant) throws(SessionError) {
    let parameters: [Parameter] = [.integer(backend.process), .integer(backend.start)]
    while true {
      let rows = try run([Execution(Self.find, parameters[0], parameters[1])], on: session)
      guard rows[0].count > 0 else { return }
      if rows[0].text(0, 0) != Self.waitOfCommit {
        _ = try run([Execution(Self.terminate, parameters[0], parameters[1])], on: session)
      }
      guard MonotonicInstant.now < end else {
        giveBack(session)
        throw .unreachable("\(session.server): an earlier call has not ended, because the server waits for a synchronous standby")
      }
      Pause.wait(Self.endPause)
    }
  }
}
