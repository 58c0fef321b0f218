internal import CSQLite

/// A connection to the index's file: SQLite's handle, on which statements are prepared. It must be
/// used by one thread at a time.
@safe
final class IndexConnection {
  private let database: OpaquePointer

  /// SQLite's page cache of a connection, in KiB. 512 would save half a microsecond per row.
  private static let cacheSize = 128
  private static let isSetUp: Bool = sqlite3_config_memstatus_off() == SQLITE_OK

  /// Opens the index.
  ///
  /// - Parameters:
  ///   - path: the path of an existing file, absolute and without symbolic links.
  ///   - busyTimeout: how long to wait for the locks of other connections, in milliseconds.
  init(_ path: String, busyTimeout: Int32) throws(IndexFailure) {
    _ = Self.isSetUp
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let database = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw IndexFailure(code)
    }
    unsafe self.database = unsafe database
    unsafe sqlite3_busy_timeout(database, busyTimeout)
    // A power failure damages only the cache: each row has its own checksum, and a malformed index
    // is recreated.
    try run("PRAGMA synchronous=OFF")
    try run("PRAGMA cache_size=-\(Self.cacheSize)")
    try run("PRAGMA mmap_size=0")
    try run("PRAGMA trusted_schema=OFF")
  }

  deinit {
    unsafe sqlite3_close_v2(database)
  }

  /// Sets how long to wait for the locks of other connections, in milliseconds.
  func setBusyTimeout(_ milliseconds: Int32) {
    unsafe sqlite3_busy_timeout(database, milliseconds)
  }

  /// Runs a statement and ignores any rows.
  func run(_ text: String) throws(IndexFailure) {
    let code = unsafe sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw IndexFailure(code) }
  }

  /// Runs `body` in one write transaction, and rolls back if it throws.
  func write<Result>(_ body: () throws(IndexFailure) -> Result) throws(IndexFailure) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(IndexFailure) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  func prepare(_ text: String) throws(IndexFailure) -> IndexStatement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    // A table is missing or has other columns: this is not our file.
    if code & 0xFF == SQLITE_ERROR { throw .damaged }
    guard code == SQLITE_OK, let statement = unsafe statement else { throw IndexFailure(code) }
    return unsafe IndexStatement(statement, connection: self)
  }

  /// The rowid of the last inserted row.
  var lastInserted: Int64 {
    unsafe sqlite3_last_insert_rowid(database)
  }

  /// Returns an empty index as the bytes of its file. It uses write-ahead logging, so that readers
  /// and a writer do not block each other.
  static func emptyFile(tables: String, pageSize: Int) throws(IndexFailure) -> [UInt8] {
    _ = isSetUp
    var opened: OpaquePointer?
    defer { unsafe sqlite3_close_v2(opened) }
    var code = unsafe sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY, nil)
    if code == SQLITE_OK { code = unsafe sqlite3_exec(opened, "PRAGMA page_size=\(pageSize);\(tables)", nil, nil, nil) }
    guard code == SQLITE_OK else { throw IndexFailure(code) }
    var count: sqlite3_int64 = 0
    guard let image = unsafe sqlite3_serialize(opened, "main", &count, 0), count >= 100 else { throw .failed(SQLITE_NOMEM) }
    defer { unsafe sqlite3_free(image) }
    var bytes = unsafe Array(UnsafeBufferPointer(start: image, count: Int(count)))
    // These bytes are the write and read versions of the file format. The value 2 means WAL
    // (https://www.sqlite.org/fileformat2.html, 1.3.3).
    (bytes[18], bytes[19]) = (2, 2)
    return bytes
  }
}

/// A prepared statement. Its parameters are bound in the order of their numbers, from 1.
@safe
final class IndexStatement {
  private let statement: OpaquePointer
  private let connection: IndexConnection

  init(_ statement: OpaquePointer, connection: IndexConnection) {
    unsafe self.statement = unsafe statement
    self.connection = connection
  }

  deinit {
    unsafe sqlite3_finalize(statement)
  }

  /// Runs the statement once and reads its rows.
  func run(_ numbers: Int64..., bytes: [UInt8]? = nil, each: (borrowing IndexStatement) throws(IndexFailure) -> Void = { _ in })
    throws(IndexFailure)
  {
    for (index, number) in numbers.enumerated() { unsafe sqlite3_bind_int64(statement, Int32(index + 1), number) }
    guard let bytes else { return try step(each) }
    let result: Result<Void, IndexFailure> = unsafe bytes.withUnsafeBytes { buffer in
      unsafe sqlite3_bind_blob_static(statement, Int32(numbers.count + 1), buffer.baseAddress, Int32(buffer.count))
      do throws(IndexFailure) { return .success(try step(each)) } catch { return .failure(error) }
    }
    try result.get()
  }

  private func step(_ each: (borrowing IndexStatement) throws(IndexFailure) -> Void) throws(IndexFailure) {
    defer { unsafe sqlite3_reset(statement) }
    while true {
      let code = unsafe sqlite3_step(statement)
      switch code {
      case SQLITE_ROW: try each(self)
      case SQLITE_DONE: return
      default: throw IndexFailure(code)
      }
    }
  }

  /// Returns a column of the current row as a number. Columns count from 0.
  func number(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(statement, column)
  }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}

/// An open index: its connection and its statements.
final class OpenIndex {
  let connection: IndexConnection
  let begin, commit: IndexStatement
  private let find, read, insert, place, replace, displace, remove: IndexStatement

  /// The page size in bytes, SQLite's default. It was the cheapest of the sizes that were tried,
  /// from 1 to 8 KiB.
  static let pageSize = 4_096
  /// The `entry` table holds the rows. The `place` table maps the hash of a key to its row.
  static let tables = """
    CREATE TABLE entry(id INTEGER PRIMARY KEY, row BLOB NOT NULL);
    CREATE TABLE place(hash INTEGER PRIMARY KEY, entry INTEGER NOT NULL);
    """

  /// - Throws: ``IndexFailure/damaged`` also for an intact file that is not our index.
  init(of store: AttachmentStore, busyTimeout: Int32) throws(IndexFailure) {
    connection = try IndexConnection(store.indexPath, busyTimeout: busyTimeout)
    try connection.run("PRAGMA max_page_count=\(store.maximumIndexPages)")
    begin = try connection.prepare("BEGIN")
    commit = try connection.prepare("COMMIT")
    find = try connection.prepare("SELECT entry FROM place WHERE hash=?1")
    read = try connection.prepare("SELECT row FROM entry WHERE id=?1")
    insert = try connection.prepare("INSERT INTO entry(row) VALUES(?1)")
    place = try connection.prepare("INSERT INTO place(hash, entry) VALUES(?1, ?2)")
    replace = try connection.prepare("UPDATE entry SET row=?2 WHERE id=?1")
    displace = try connection.prepare("DELETE FROM place WHERE hash=?1 AND entry=?2")
    remove = try connection.prepare("DELETE FROM entry WHERE id=?1")
  }

  /// Returns the row of a key and its rowid.
  func row(for key: IndexKey) throws(IndexFailure) -> (place: Int64, row: IndexRow)? {
    guard let found = try placeOfRow(for: key), let row = try row(at: found, for: key) else { return nil }
    return (found, row)
  }

  /// Makes a change. The caller has begun a transaction.
  func make(_ change: StoreIndex.Change) throws(IndexFailure) {
    switch change {
    case .keep(let row):
      if let found = try placeOfRow(for: row.key) {
        if try self.row(at: found, for: row.key) != nil { return try replace.run(found, bytes: row.bytes) }
        // The place refers to a missing row or to the row of another key.
        try displace.run(row.key.number, found)
      }
      try insert.run(bytes: row.bytes)
      try place.run(row.key.number, connection.lastInserted)
    case .forget(let key):
      if let found = try row(for: key) { try removeRow(at: found.place, hash: key.number) }
    }
  }

  /// Removes a row and its place.
  func removeRow(at place: Int64, hash: Int64?) throws(IndexFailure) {
    if let hash { try displace.run(hash, place) }
    try remove.run(place)
  }

  private func row(at place: Int64, for key: IndexKey) throws(IndexFailure) -> IndexRow? {
    var bytes: [UInt8] = []
    try read.run(place) { bytes = $0.bytes(0) }
    return IndexRow(bytes).flatMap { $0.key == key ? $0 : nil }
  }

  private func placeOfRow(for key: IndexKey) throws(IndexFailure) -> Int64? {
    var found: Int64?
    try find.run(key.number) { found = $0.number(0) }
    return found
  }
}
