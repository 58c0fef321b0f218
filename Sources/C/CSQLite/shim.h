// SQLite for Swift: what stands in macros and variadic calls. The names and the codes are SQLite's own.
#include <sqlite3.h>

// The bytes stay the caller's, who keeps them until the statement is reset.
static inline int sqlite3_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}
// Counts no memory: nobody asks, and each allocation would take a lock for it.
static inline int sqlite3_config_memstatus_off(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
// A connection is used by one thread at a time: it takes no lock for each call.
static inline int sqlite3_config_multithread(void) {
  return sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
}
