/// Writes the results of a queue as files for people: `done/17-cat.json` or `dead/17-cat.json`,
/// each beside its record, `….record`.
///
/// A result is in the database first. Its files are written completely in `outgoing`, then the
/// database records that they were written (``OutboxState``), and then a rename gives them their
/// names. A killed process leaves each file either in `outgoing` or under its name. The next call
/// renames the recorded files in `outgoing`, and removes the others, whose results are written
/// again. So no incomplete file is visible, and a file that was moved away or deleted does not come
/// back.
///
/// Not thread-safe: used under the queue's lock.
struct Outbox {
  let folder: QueueFolder
  let database: SQLiteQueue
  /// Whether a power failure must not lose or repeat a file.
  let isSynced: Bool

  static let outgoing = "outgoing"
  private static let recordEnding = ".record"
  /// The number of results in one transaction.
  private static let portion = 1_000

  /// Writes the files of new results, and removes those of deleted results.
  func deliver() throws(QueueError) {
    try recover()
    guard try database.hasOutboxWork() else { return }
    try removeOutdated()
    do throws(QueueError) {
      while try deliverPortion() == Self.portion {}
    } catch {
      // Removes incomplete files, which take up room.
      try? recover()
      throw error
    }
  }

  /// - Returns: the number of results whose files were written.
  private func deliverPortion() throws(QueueError) -> Int {
    var places: [OutboxPlace] = []
    try database.forEachUnwritten(limit: Self.portion) { result throws(QueueError) in
      try folder.write(result.record, to: Self.outgoing(result.id, Self.recordEnding))
      try folder.write(result.line, to: Self.outgoing(result.id))
      places.append(OutboxPlace(id: result.id, path: Self.path(of: result)))
    }
    guard !places.isEmpty else { return 0 }
    // The content of a file is on disk before the database records it, and the record is on disk
    // before the file is visible.
    if isSynced { try folder.sync() }
    let written = try database.noteWritten(places)
    if isSynced { try database.sync() }
    for place in written { try name(place) }
    return places.count
  }

  /// Renames written files: the record first, so that it exists when the line appears.
  private func name(_ place: OutboxPlace) throws(QueueError) {
    // The other folder may have a file of the same payload: it was dead before, or is dead now.
    let other = FileName(place.path.hasPrefix("dead/") ? "done/\(place.path.dropFirst(5))" : "dead/\(place.path.dropFirst(5))")
    for ending in [Self.recordEnding, ""] {
      try folder.move(Self.outgoing(place.id, ending), to: "\(place.path)\(ending)")
      try folder.remove(other.appending(ending))
    }
  }

  /// Completes the work of a killed process.
  func recover() throws(QueueError) {
    for file in try folder.names(in: FileName(Self.outgoing)) {
      let text = file.text ?? ""
      let ending = text.hasSuffix(Self.recordEnding) ? Self.recordEnding : ""
      if let id = Int64(text.dropLast(ending.count)), let path = try database.writtenPath(of: id) {
        try folder.move(file.inside(Self.outgoing), to: "\(path)\(ending)")
      } else {
        try folder.remove(file.inside(Self.outgoing))
      }
    }
  }

  private func removeOutdated() throws(QueueError) {
    while true {
      let places = try database.outdatedPlaces(limit: Self.portion)
      for place in places where !place.path.isEmpty {
        try folder.remove("\(place.path)")
        try folder.remove("\(place.path)\(Self.recordEnding)")
      }
      if !places.isEmpty { try database.forget(places) }
      guard places.count == Self.portion else { return }
    }
  }

  // MARK: What was taken away

  /// Records which files were moved away or deleted since the last call.
  ///
  /// - Parameter includesRead: whether to check the files of results that were read through the
  ///   queue too.
  func noteTaken(includesRead: Bool) throws(QueueError) {
    try recover()
    var last: Int64 = 0
    while true {
      let places = try database.writtenPlaces(after: last, limit: Self.portion, includesRead: includesRead)
      try database.noteTaken(places.filter { !folder.has("\($0.path)") }.map(\.id))
      guard places.count == Self.portion, let end = places.last?.id else { return }
      last = end
    }
  }

  /// Returns those of `ids` whose files were moved away or deleted.
  func taken(of ids: [Int64]) throws(QueueError) -> Set<Int64> {
    try recover()
    var taken: Set<Int64> = []
    var new: [Int64] = []
    for (id, (state, path)) in try database.outboxStates(of: ids) {
      switch state {
      case .taken: taken.insert(id)
      case .unread, .read: if !folder.has("\(path)") { new.append(id) }
      case .unwritten, .outdated: break
      }
    }
    try database.noteTaken(new)
    return taken.union(new)
  }

  // MARK: Names

  private static func outgoing(_ id: Int64, _ ending: String = "") -> FileName { "\(outgoing)/\(id)\(ending)" }

  private static func path(of result: UnwrittenResult) -> String {
    "\(result.isDead ? "dead" : "done")/\(result.id)\(result.name.map { "-" + $0 } ?? "")"
  }
}
