internal import CSQLite

/// SQLite of a process that has each connection used by one thread at a time, as ours are; a
/// library does not decide this for the program that uses it.
package enum ProcessSQLite {
  /// Leaves out the locks that SQLite takes for each value and each allocation. Called before the
  /// first connection is opened.
  package static func leaveOutLocks() {
    _ = sqlite3_config_multithread()
    _ = sqlite3_config_memstatus_off()
  }
}
