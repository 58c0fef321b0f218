internal import Attache
internal import CPQ
internal import Glibc

/// A connection to a server. Calls wait for the socket with a limit, and never in libpq.
///
/// One thread at a time uses it (``SessionPool``).
@safe final class Session: @unchecked Sendable {
  // Unchecked: the pool gives a session to one thread at a time.

  private let connection: OpaquePointer
  /// Identifies the server process of this session.
  private(set) var backend = Backend(process: 0, start: 0)
  /// The server of this session.
  let server: ServerAddress
  private var prepared: Set<String> = []
  /// Whether commits wait for the disk: `synchronous_commit` of the session.
  private var isSynchronous = true
  private(set) var isBroken = false

  /// A server process. The start tells it from a later process with the same number.
  struct Backend: Equatable {
    let process: Int64
    /// In microseconds since 1970.
    let start: Int64
  }

  /// - Parameter connection: an established connection in nonblocking mode; belongs to the session.
  fileprivate init(_ connection: OpaquePointer, _ server: ServerAddress) {
    unsafe self.connection = connection
    self.server = server
  }

  deinit {
    unsafe PQfinish(connection)
  }

  /// An expression for the start of a server process, in microseconds since 1970.
  static let backendStart = "(extract(epoch FROM backend_start) * 1000000)::bigint"
  /// Not in the connection's `options`, which pgbouncer refuses.
  private static let configure = Statement(
    "configure", "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)")
  private static let identify = Statement(
    "identify",
    """
    SELECT pid::bigint, \(backendStart) FROM pg_stat_activity WHERE pid = pg_backend_pid()
    """)
  private static let synchronise = Statement("synchronise", "SELECT set_config('synchronous_commit', $1::text, false)")

  // MARK: Connecting

  /// Connects to one server, whose address must be known, because libpq looks up names without a
  /// limit.
  ///
  /// - Parameters:
  ///   - limit: how long to wait for the server.
  /// - Throws: ``SessionError/unreachable(_:)``
  static func connect(_ server: ServerAddress, within limit: Duration) throws(SessionError) -> Session {
    let started = unsafe withPointers(server.options) { keywords, values in unsafe PQconnectStartParams(keywords, values, 0) }
    guard let connection = unsafe started else { throw .unreachable("\(server): not enough memory") }
    let session = unsafe Session(connection, server)
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
    let end = MonotonicInstant.now.advanced(by: limit)
    var direction = PGRES_POLLING_WRITING
    while unsafe PQstatus(connection) != CONNECTION_BAD, direction != PGRES_POLLING_OK {
      guard direction != PGRES_POLLING_FAILED else { break }
      let isReady = unsafe wait(PQsocket(connection), writing: direction == PGRES_POLLING_WRITING, until: end)
      guard isReady else { throw .unreachable("\(server): no answer within \(limit.text)") }
      direction = unsafe PQconnectPoll(connection)
    }
    guard unsafe PQstatus(connection) == CONNECTION_OK else { throw .unreachable("\(server): \(session.message)") }
    guard unsafe PQsetnonblocking(connection, 1) == 0, unsafe PQenterPipelineMode(connection) == 1 else {
      throw .unreachable("\(server): \(session.message)")
    }
    do throws(SessionError) {
      let settings = server.settings
      let rows = try session.run(
        [Execution(configure, .texts(settings.map { $0.name }), .texts(settings.map { $0.value })), Execution(identify)], checkAfter: limit
      ) { _ in .isGone }
      session.backend = Backend(process: rows[1].integer(0, 0), start: rows[1].integer(0, 1))
    } catch {
      // 42P05: the prepared statement exists. A pooler has given this client the session of another one.
      let isPooled = if case .refused("42P05", _) = error { true } else { false }
      throw .unreachable("\(server): \(error.text)" + (isPooled ? ": the pooler must pool sessions (pool_mode = session)" : ""))
    }
    return session
  }

  private static func withPointers<Result>(
    _ options: [(String, String)], _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let keywords = unsafe options.map { unsafe strdup($0.0) }
    let values = unsafe options.map { unsafe strdup($0.1) }
    defer { unsafe (keywords + values).forEach { unsafe free($0) } }
    return unsafe body(keywords.map { unsafe UnsafePointer($0) } + [nil], values.map { unsafe UnsafePointer($0) } + [nil])
  }

  // MARK: Running

  /// What is known of a call whose reply is late.
  enum CallState {
    /// The server still works on it.
    case isRunning
    /// The server no longer has this session, or does not answer at all.
    case isGone
  }

  /// Runs statements in one transaction and one round trip.
  ///
  /// - Parameters:
  ///   - isSynchronous: whether the commit waits for the disk and for synchronous standbys.
  ///   - checkAfter: how long to wait for the reply before `check` is asked, each time.
  ///   - check: asked while the reply is missing, with the time since the call.
  /// - Returns: the rows of each statement.
  func run(
    _ executions: [Execution], isSynchronous: Bool? = nil, checkAfter: Duration, check: (Duration) -> CallState
  ) throws(SessionError) -> [Rows] {
    do throws(SessionError) {
      var queued: [Queued] = []
      if let isSynchronous, isSynchronous != self.isSynchronous {
        try send(Execution(Self.synchronise, .text(isSynchronous ? "on" : "off")), &queued, keeps: false)
      }
      for execution in executions { try send(execution, &queued, keeps: true) }
      guard unsafe PQpipelineSync(connection) == 1 else { throw .lost(message) }
      let rows = try receive(queued, checkAfter, check)
      if let isSynchronous { self.isSynchronous = isSynchronous }
      return rows
    } catch {
      switch error {
      case .refused(let code, _): if SessionError.endsSession(code) { isBroken = true }
      case .lost, .unreachable: isBroken = true
      }
      throw error
    }
  }

  /// What was sent, in the order of its results.
  private enum Queued {
    case preparation(String)
    case execution(keeps: Bool)
  }

  private func send(_ execution: Execution, _ queued: inout [Queued], keeps: Bool) throws(SessionError) {
    let (statement, name) = (execution.statement, execution.statement.name.description)
    // A statement without a name is used once.
    if name.isEmpty || !prepared.contains(name) {
      guard unsafe PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { throw .lost(message) }
      queued.append(.preparation(name))
    }
    let buffer = ParameterBuffer(execution.parameters)
    let lengths = buffer.values.map { Int32(clamping: $0?.length ?? 0) }
    let formats = [Int32](repeating: 1, count: lengths.count)
    let isSent = unsafe buffer.bytes.withUnsafeBufferPointer { bytes in
      // A value without bytes needs an address, because a null pointer is NULL.
      unsafe withUnsafePointer(to: 0 as CChar) { empty in
        let values: [UnsafePointer<CChar>?] = unsafe buffer.values.map { value in
          guard let value else { return nil }
          guard value.length > 0, let start = bytes.baseAddress else { return unsafe empty }
          return unsafe UnsafeRawPointer(start + value.offset).assumingMemoryBound(to: CChar.self)
        }
        return unsafe PQsendQueryPrepared(connection, name, Int32(lengths.count), values, lengths, formats, 1)
      }
    }
    guard isSent == 1 else { throw .lost(message) }
    queued.append(.execution(keeps: keeps))
  }

  private func receive(_ queued: [Queued], _ checkAfter: Duration, _ check: (Duration) -> CallState) throws(SessionError) -> [Rows] {
    let start = MonotonicInstant.now
    var rows: [Rows] = []
    var failure: SessionError?
    func keep(_ result: OpaquePointer, _ use: (OpaquePointer) -> Void) {
      switch unsafe PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: unsafe use(result)
      case PGRES_PIPELINE_ABORTED: unsafe PQclear(result)
      default:
        failure = unsafe failure ?? Self.failure(result)
        unsafe PQclear(result)
      }
    }
    for item in queued {
      while let result = unsafe try next(start, checkAfter, check) {
        unsafe keep(result) { result in
          switch item {
          case .execution(keeps: true): unsafe rows.append(Rows(result))
          case .execution(keeps: false): unsafe PQclear(result)
          case .preparation(let name):
            if !name.isEmpty { prepared.insert(name) }
            unsafe PQclear(result)
          }
        }
      }
    }
    // A commit that fails is reported here.
    while true {
      guard let result = unsafe try next(start, checkAfter, check) else { continue }
      if unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC {
        unsafe PQclear(result)
        break
      }
      unsafe keep(result) { unsafe PQclear($0) }
    }
    if let failure { throw failure }
    return rows
  }

  /// Returns the next result; nil after the last one of a statement.
  private func next(_ start: MonotonicInstant, _ checkAfter: Duration, _ check: (Duration) -> CallState) throws(SessionError)
    -> OpaquePointer?
  {
    var asked = start
    while true {
      let unsent = unsafe PQflush(connection)
      guard unsent >= 0 else { throw .lost(message) }
      if unsafe PQisBusy(connection) == 0 {
        let result = unsafe PQgetResult(connection)
        if unsafe result == nil, unsafe PQstatus(connection) != CONNECTION_OK { throw .lost(message) }
        return unsafe result
      }
      let end = asked.advanced(by: checkAfter)
      if unsafe !Self.wait(PQsocket(connection), writing: unsent == 1, until: end) {
        asked = .now
        guard check(start.duration(to: asked)) == .isRunning else { throw .lost("\(server): no answer") }
        continue
      }
      guard unsafe PQconsumeInput(connection) == 1 else { throw .lost(message) }
    }
  }

  private static func failure(_ result: OpaquePointer) -> SessionError {
    func field(_ code: Character) -> String? {
      unsafe PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { unsafe String(cString: $0) }
    }
    let text = [field("M"), field("D")].compactMap(\.self).joined(separator: ": ")
    // A result without a code is libpq's own: the connection is gone.
    guard let code = field("C") else { return .lost(text.isEmpty ? "the server closed the connection" : text) }
    return .refused(code: code, text)
  }

  // MARK: Watching

  /// The descriptor that becomes readable when the connection is lost.
  var socket: Int32 { unsafe PQsocket(connection) }

  /// Reads what the server has sent unasked. False when the connection is lost.
  func isConnected() -> Bool {
    guard !isBroken else { return false }
    guard unsafe PQconsumeInput(connection) == 1, unsafe PQstatus(connection) == CONNECTION_OK else {
      isBroken = true
      return false
    }
    return true
  }

  var version: Int32 { unsafe PQserverVersion(connection) }

  func setting(_ name: String) -> String? {
    unsafe PQparameterStatus(connection, name).map { unsafe String(cString: $0) }
  }

  private var message: String {
    let text = unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
    return text.trimmed
  }

  /// Waits until a socket has input, or accepts output.
  ///
  /// - Returns: false when the time is over.
  private static func wait(_ socket: Int32, writing: Bool, until end: MonotonicInstant) -> Bool {
    while true {
      let left = MonotonicInstant.now.duration(to: end).milliseconds.rounded(.up)
      guard left > 0 else { return false }
      var entry = pollfd(fd: socket, events: Int16(writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
      let count = unsafe poll(&entry, 1, Int32(min(left, 1_000_000)))
      if count > 0 { return true }
      if count < 0, errno != EINTR { return true }
    }
  }
}

extension SessionError {
  /// What happened, in one line.
  var text: String {
    switch self {
    case .lost(let text), .unreachable(let text): text
    case .refused(let code, let text): "\(text) (SQLSTATE \(code))"
    }
  }
}

extension String {
  /// The text on one line, without spaces at its ends. libpq's messages have several lines.
  var trimmed: String {
    split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
  }
}
