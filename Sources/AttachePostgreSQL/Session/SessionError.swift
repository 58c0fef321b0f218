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
    return ["40P01", "40001", "55P03"].contains(code)
  }

  /// Whether the session cannot be used any more: connection exceptions, a server that stops, and
  /// a server that only reads, because it is no primary (any more).
  static func endsSession(_ code: String) -> Bool {
    code.hasPrefix("08") || code.hasPrefix("57P") || code == "25006" || code == "25P03"
  }
}
