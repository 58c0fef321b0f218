internal import GRDB
internal import GRDBSQLite

/// A statement that runs for each of many rows. It calls SQLite directly, because GRDB boxes the
/// values of a row several times.
///
/// The statement belongs to the connection's cache and is used within one access to the connection.
/// After an error, and after reading rows, call ``reset()`` before anything else.
struct BatchStatement {
  private let statement: Statement
  private let connection: Database

  fileprivate init(_ statement: Statement, _ connection: Database) {
    self.statement = statement
    self.connection = connection
  }

  // MARK: Values, from 1

  func bind(_ index: Int32, _ number: Int64?) {
    if let number {
      _ = unsafe sqlite3_bind_int64(statement.sqliteStatement, index, number)
    } else {
      _ = unsafe sqlite3_bind_null(statement.sqliteStatement, index)
    }
  }

  /// Binds bytes during a call, without copying them; nil is NULL.
  func withBound<Result>(_ index: Int32, _ bytes: [UInt8]?, _ body: () throws -> Result) throws -> Result {
    guard let bytes, !bytes.isEmpty else {
      if bytes == nil { bind(index, nil as Int64?) } else { _ = unsafe sqlite3_bind_zeroblob(statement.sqliteStatement, index, 0) }
      return try body()
    }
    return try unsafe bytes.withUnsafeBytes { buffer in
      try unsafe check(sqlite3_bind_blob64(statement.sqliteStatement, index, buffer.baseAddress, UInt64(buffer.count), nil))
      defer { _ = unsafe sqlite3_bind_null(statement.sqliteStatement, index) }
      return try body()
    }
  }

  /// Binds a copy of a text; nil is NULL.
  func bind(_ index: Int32, _ text: String?) throws {
    guard var text else { return bind(index, nil as Int64?) }
    try text.withUTF8 { buffer in
      try unsafe buffer.withMemoryRebound(to: CChar.self) { buffer in
        try unsafe check(
          sqlite3_bind_text(
            statement.sqliteStatement, index, buffer.baseAddress, Int32(buffer.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self)))
      }
    }
  }

  // MARK: Running

  /// Steps to the next row.
  ///
  /// - Returns: whether there is a row.
  func step() throws -> Bool {
    switch unsafe sqlite3_step(statement.sqliteStatement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = unsafe DatabaseError(
        resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection.sqliteConnection)), sql: statement.sql)
      reset()
      throw error
    }
  }

  func reset() {
    _ = unsafe sqlite3_reset(statement.sqliteStatement)
  }

  /// Runs the statement to its end, and resets it.
  ///
  /// - Returns: the number of rows that it changed.
  @discardableResult
  func run() throws -> Int {
    while try step() {}
    let changes = connection.changesCount
    reset()
    return changes
  }

  /// Binds the first values, and runs the statement to its end.
  @discardableResult
  func run(_ numbers: Int64?...) throws -> Int {
    for (index, number) in numbers.enumerated() { bind(Int32(index + 1), number) }
    return try run()
  }

  /// Binds the first value, and runs the statement to its end.
  ///
  /// - Returns: the first column of its row; nil without a row.
  func flag(_ number: Int64) throws -> Bool? {
    bind(1, number)
    defer { reset() }
    guard try step() else { return nil }
    let flag = integer(0) != 0
    while try step() {}
    return flag
  }

  // MARK: Columns, from 0

  func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(statement.sqliteStatement, column)
  }

  func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement.sqliteStatement, column) == SQLITE_NULL
  }

  func integerIfAny(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  func text(_ column: Int32) -> String {
    String(decoding: bytes(column), as: UTF8.self)
  }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(statement.sqliteStatement, column) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.sqliteStatement, column))))
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code), sql: statement.sql) }
  }
}

extension Database {
  /// Returns a statement of the connection's cache.
  func batch(_ sql: String) throws -> BatchStatement {
    let statement = BatchStatement(try cachedStatement(sql: sql), self)
    // GRDB leaves a statement at its end, where SQLite refuses values.
    statement.reset()
    return statement
  }
}
