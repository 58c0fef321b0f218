/// Why a session did not carry out a call.
enum SessionError: Error, Equatable {
  /// The connection was lost, or was given up. What was sent may have been carried out.
  case lost(String)
  /// No connection. Nothing was sent.
  case unreachable(String)
  /// The server refused a statement, and changed nothing.
  ///
  /// - Parameters:
  ///   - code: the SQLSTATE (PostgreSQL, appendix A).
  case refused(code: String, String)

  /// Whether the same call may succeed on the same session: a deadlock, a serialisation failure or
  /// a lock that was not available.
  var isTransient: Bool {
    guard case .refused(let code, _) = self else { return false }
    return ["40P01", "40001", Self.lockNotAvailable].contains(code)
  }

  /// Whether another session may carry out the call.
  var isOfConnection: Bool {
    switch self {
    case .lost, .unreachable: true
    case .refused(let code, _): Self.endsSession(code)
    }
  }

  /// SQLSTATE `lock_not_available`: another session held a lock for the whole `lock_timeout`.
  static let lockNotAvailable = "55P03"

  /// The holder of the lock that was not available (``SessionPool/run(_:on:isSynchronous:)``); nil
  /// for any other error.
  var lockHolder: String? {
    if case .refused(Self.lockNotAvailable, let holder) = self { holder } else { nil }
  }

  /// Whether the session cannot be used any more: connection exceptions, a server that stops, and
  /// a server that only reads, because it is no primary (any more).
  static func endsSession(_ code: String) -> Bool {
    code.hasPrefix("08") || code.hasPrefix("57P") || code == "25006" || code == "25P03"
  }
}
