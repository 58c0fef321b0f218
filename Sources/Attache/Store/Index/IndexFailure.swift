internal import CSQLite

/// Why SQLite failed: one case for each way to handle it.
enum IndexFailure: Error, Hashable {
  /// Another connection holds a lock. A later attempt may succeed.
  case busy
  /// The file is damaged or not a database.
  case damaged
  /// Any other error, with SQLite's extended result code.
  case failed(Int32)

  /// - Parameter code: an extended result code that is not a success.
  init(_ code: Int32) {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self = .damaged
    default: self = .failed(code)
    }
  }
}
