/// Writes the results of a queue as files for people to find, `done/17-cat.json` or
/// `dead/17-cat.json`, each beside its record, `….record`.
///
/// A result is in the database first. Its files are written whole in `outgoing`, then the database
/// notes that they were (``OutboxState``), and then they get their names by a rename. A process
/// that is killed leaves each file either in `outgoing` or under its name: the next call gives
/// those that were noted their names, and removes the others, whose results are written again. So
/// nobody sees half a file, and a file that somebody took away does not come back.
///
/// One call at a time uses it: under the queue's lock.
struct Outbox {
  let folder: QueueFolder
  let database: SQLiteQueue
  /// Whether a power failure may neither lose nor repeat a file.
  let isSynced: Bool

  static let outgoing = "outgoing"
  private static let recordEnding = ".record"
  /// Results that one transaction is about.
  private static let portion = 1_000

  /// Writes the files of new results, and removes those of results that are gone.
  func deliver() throws(QueueError) {
    try recover()
    guard try database.hasOutboxWork() else { return }
    try removeOutdated()
    do throws(QueueError) {
      while try deliverPortion() == Self.portion {}
    } catch {
      // Half a file takes no room.
      try? recover()
      throw error
    }
  }

  /// - Returns: how many results' files were written.
  private func deliverPortion() throws(QueueError) -> Int {
    var places: [OutboxPlace] = []
    try database.forEachUnwritten(limit: Self.portion) { result throws(QueueError) in
      try folder.write(result.record, to: Self.outgoing(result.id, Self.recordEnding))
      try folder.write(result.line, to: Self.outgoing(result.id))
      places.append(OutboxPlace(id: result.id, path: Self.path(of: result)))
    }
    guard !places.isEmpty else { return 0 }
    // The bytes of a file are on the disk before anything says that it was written, and that before
    // anybody sees it.
    if isSynced { try folder.sync() }
    let written = try database.noteWritten(places)
    if isSynced { try database.sync() }
    for place in written { try name(place) }
    return places.count
  }

  /// Gives written files their names: the record first, so that it is there when the line is.
  private func name(_ place: OutboxPlace) throws(QueueError) {
    // A payload that was dead before, or is now.
    let other = FileName(place.path.hasPrefix("dead/") ? "done/\(place.path.dropFirst(5))" : "dead/\(place.path.dropFirst(5))")
    for ending in [Self.recordEnding, ""] {
      try folder.move(Self.outgoing(place.id, ending), to: "\(place.path)\(ending)")
      try folder.remove(other.appending(ending))
    }
  }

  /// Completes what a killed process was at.
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

  /// Notes which files somebody took away since the last look.
  ///
  /// - Parameter includesRead: whether the files of results are looked for too that were read
  ///   through the queue.
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

  /// Which of some results somebody took away.
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
