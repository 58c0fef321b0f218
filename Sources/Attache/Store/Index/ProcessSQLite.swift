internal import CSQLite

/// Configures SQLite for a process that uses each connection on one thread at a time, as this
/// program does. A library does not decide this for the program that uses it.
package enum ProcessSQLite {
  /// Disables the locks that SQLite takes for each value and each allocation. Call it before the
  /// first connection is opened.
  package static func leaveOutLocks() {
    _ = sqlite3_config_multithread()
    _ = sqlite3_config_memstatus_off()
  }
}
