/// Removes useless rows from the index: rows whose file is gone, and rows that were not used for
/// the store's maximum age. When the index is nearly full, it also removes the rows that were
/// written first: those in the lower half of the range of rowids.
struct IndexSweep {
  private let store: AttachmentStore
  private let open: OpenIndex

  /// The number of rows that are read and removed at a time. Other connections may write in
  /// between.
  private static let portion: Int64 = 256
  /// How long to wait for a lock, in milliseconds.
  private static let busyTimeout: Int32 = 100

  /// - Returns: nil when no index can be opened.
  init?(of store: AttachmentStore) {
    guard store.indexStatus?.isRegular == true, let open = try? OpenIndex(of: store, busyTimeout: Self.busyTimeout)
    else { return nil }
    (self.store, self.open) = (store, open)
  }

  func run() throws(IndexFailure) {
    let (now, first) = (store.clock().components.seconds, try firstToStay)
    var place = Int64.min
    while let next = try sweep(after: place, stayingFrom: first, now: now) { place = next }
  }

  /// Checks the next rows.
  ///
  /// - Returns: the rowid of the last one, or nil when there are no more rows.
  private func sweep(after place: Int64, stayingFrom first: Int64, now: Int64) throws(IndexFailure) -> Int64? {
    var last: Int64?
    var dead: [(place: Int64, hash: Int64?)] = []
    try open.connection.prepare("SELECT id, row FROM entry WHERE id>?1 ORDER BY id LIMIT ?2").run(place, Self.portion) { statement in
      let (id, row) = (statement.number(0), IndexRow(statement.bytes(1)))
      last = id
      if id < first || row.map({ !isOfUse($0, now: now) }) ?? true { dead.append((id, row?.key.number)) }
    }
    if !dead.isEmpty {
      try open.connection.write { () throws(IndexFailure) in
        for (place, hash) in dead { try open.removeRow(at: place, hash: hash) }
      }
    }
    return last
  }

  private func isOfUse(_ row: IndexRow, now: Int64) -> Bool {
    guard .seconds(now - row.lastUse) <= store.limits.maximumAge, let subfolder = try? store.root.folder(row.name.folder) else {
      return false
    }
    return subfolder.status(of: row.name.fileName)?.size == row.size
  }

  /// Whether the index uses more than three quarters of its maximum size.
  private var isNearlyFull: Bool {
    get throws(IndexFailure) {
      try number("PRAGMA page_count") - number("PRAGMA freelist_count") > store.maximumIndexPages / 4 * 3
    }
  }

  /// The rowid of the first row that is not removed for lack of space.
  private var firstToStay: Int64 {
    get throws(IndexFailure) {
      guard try isNearlyFull else { return .min }
      let (first, last) = (try number("SELECT coalesce(min(id), 0) FROM entry"), try number("SELECT coalesce(max(id), 0) FROM entry"))
      return first + (last - first) / 2
    }
  }

  private func number(_ text: String) throws(IndexFailure) -> Int64 {
    var number: Int64 = 0
    try open.connection.prepare(text).run { number = $0.number(0) }
    return number
  }
}
