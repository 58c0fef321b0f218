internal import CSQLite

/// Why SQLite did not do what it was asked: one case for each thing that can be done about it.
enum IndexFailure: Error, Hashable {
  /// Another connection holds a lock: the next time may fare better.
  case busy
  /// The file is not what SQLite wrote.
  case damaged
  /// Anything else; SQLite's code, with what extends it.
  case failed(Int32)

  /// - Parameter code: an extended result code that is no success.
  init(_ code: Int32) {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self = .damaged
    default: self = .failed(code)
    }
  }
}
