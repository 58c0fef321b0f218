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
