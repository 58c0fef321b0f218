/// Adds dropped files to a queue, each once.
///
/// Files are moved from `new` into a folder for their batch, `intake/BATCH`. From then on other
/// processes have no path to them, and `new` can get files with the same names. One transaction
/// adds their payloads and records the batch. Then the files are removed. A killed process leaves
/// either a recorded batch, whose files only need to be removed, or an unrecorded one, which the
/// next call adds.
///
/// Not thread-safe: used under the queue's lock.
struct Inbox {
  let folder: QueueFolder
  let database: SQLiteQueue
  /// Whether a power failure must not lose or repeat a file.
  let isSynced: Bool

  static let new = "new"
  static let intake = "intake"
  static let refused = "refused"
  /// The limits of one batch. The first file is taken whatever its size.
  private static let (maximumFiles, maximumBytes): (Int, Int64) = (4_096, 16 << 20)

  /// The files of `new` that were listed and not processed yet, in their order. With very many
  /// files, one listing serves many batches. Files that are dropped in the meantime come after it.
  struct Listing {
    fileprivate var drops: ArraySlice<Drop> = []
  }

  /// The maximum number of files in a listing: 65,536 take about 10 MB.
  private static let maximumListed = 65_536

  /// A file to add.
  fileprivate struct Drop {
    var name: FileName
    var status: QueueFolder.Status
    /// The bytes that the file adds to a batch, at most the limit of a batch. Users can create
    /// files of any size; a file over 64 MiB is not read.
    var portion: Int64 { min(max(0, status.size), Inbox.maximumBytes) }

    /// Orders by time, and then by name.
    static func precedes(_ one: Drop, _ other: Drop) -> Bool {
      if one.status.written != other.status.written { return one.status.written < other.status.written }
      return one.name < other.name
    }
  }

  /// Adds the batches that a killed process left, and one batch of dropped files.
  ///
  /// - Parameters:
  ///   - listing: the rest of the previous call's listing.
  ///   - notice: receives what stays in `new`, and what is refused.
  /// - Returns: whether more files wait.
  func takeIn(_ listing: inout Listing, _ notice: (Left) -> Void) throws(QueueError) -> Bool {
    let taken = try database.takenBatches()
    for batch in try batches() {
      if taken.contains(batch) { try clear(batch) } else { try add(batch, notice) }
    }
    if !taken.isEmpty {
      // A batch is deleted from the database only after its folder cannot come back.
      if isSynced { try folder.sync() }
      try database.forget(taken)
    }
    // Other processes may have taken the listed files.
    if !listing.drops.isEmpty, try takeIn(&listing.drops, notice) { return true }
    var drops = try waiting(notice)[...]
    guard !drops.isEmpty else { return false }
    _ = try takeIn(&drops, notice)
    // A copy, so that the other files take no memory.
    listing.drops = Array(drops.prefix(Self.maximumListed))[...]
    return !drops.isEmpty
  }

  /// Adds one batch of the listed files.
  ///
  /// - Returns: whether any file existed.
  private func takeIn(_ drops: inout ArraySlice<Drop>, _ notice: (Left) -> Void) throws(QueueError) -> Bool {
    let batch = Self.newBatch
    try folder.makeFolder("\(Self.intake)/\(batch)")
    let count = try move(&drops, to: batch, notice)
    if count > 0 { try add(batch, notice) } else { folder.removeFolder("\(Self.intake)/\(batch)") }
    return count > 0
  }

  /// Returns the number of files that wait, including those that a killed process left.
  func count() throws(QueueError) -> Int {
    let taken = try database.takenBatches()
    var count = try waiting { _ in }.count
    for batch in try batches() where !taken.contains(batch) { count += try folder.names(in: "\(Self.intake)/\(batch)").count }
    return count
  }

  // MARK: A batch

  /// Moves files into the folder of a batch, until the batch is full. A file that cannot be moved
  /// stays and does not block the others, for example another user's file in a sticky folder.
  ///
  /// - Parameter drops: the listed files. Files that were tried are removed from it.
  /// - Returns: the number of files in the batch.
  private func move(_ drops: inout ArraySlice<Drop>, to batch: String, _ notice: (Left) -> Void) throws(QueueError) -> Int {
    var (count, bytes): (Int, Int64) = (0, 0)
    var left: [Drop] = []
    defer { if let first = left.first { notice(inPlace(first, "cannot be moved", count: left.count)) } }
    while let drop = drops.first {
      let hasRoom = count < Self.maximumFiles && bytes + drop.portion <= Self.maximumBytes
      guard count == 0 || hasRoom else { return count }
      drops.removeFirst()
      switch try move(drop, to: batch) {
      case true?:
        count += 1
        bytes += drop.portion
      case false?: left.append(drop)
      case nil: continue
      }
    }
    return count
  }

  /// - Returns: false when only this file cannot be moved; nil when it no longer exists.
  private func move(_ drop: Drop, to batch: String) throws(QueueError) -> Bool? {
    do throws(QueueError) {
      return try folder.move(drop.name.inside(Self.new), to: drop.name.inside("\(Self.intake)/\(batch)")) ? true : nil
    } catch {
      if case .full = error { throw error }
      guard folder.isWritable(FileName(Self.new)) else { throw error }
      return false
    }
  }

  /// Returns a unique name for a batch: 126 random bits in 32 hexadecimal digits.
  private static var newBatch: String {
    (0..<2).map { _ in String(UInt64.random(in: (1 << 63)...UInt64.max), radix: 16) }.joined()
  }

  private func batches() throws(QueueError) -> [String] {
    try folder.names(in: FileName(Self.intake)).compactMap(\.text)
  }

  /// Adds the files of a batch to the queue, and removes them.
  private func add(_ batch: String, _ notice: (Left) -> Void) throws(QueueError) {
    // The new places of the files are on disk before the batch is in the queue. Otherwise the files
    // might appear in `new` again after a power failure.
    if isSynced { try folder.sync() }
    let place = "\(Self.intake)/\(batch)"
    let reader = DropReader()
    var dropped: [DroppedPayload] = []
    for (index, drop) in try drops(in: place).enumerated() {
      let file = drop.name.inside(place)
      switch Result(catching: { () throws(QueueError) in try folder.content(of: file, upTo: NewPayload.maximumLine) }) {
      case .success(.bytes(let bytes)): dropped.append(DroppedPayload(payload: reader.read(bytes), name: DropName.kept(of: drop.name)))
      case .success(.missing): break
      case .success(.tooLong): try refuse(file, drop.name, "\(batch)-\(index)", "is longer than 64 MiB, the limit of a queue", notice)
      case .success(.irregular): try refuse(file, drop.name, "\(batch)-\(index)", "is not a regular file", notice)
      // No descriptor, no room, no memory or a read-only disk: not the fault of this file.
      case .failure(.full(let text)): throw .full(text)
      case .failure(.disk(let text, isReadOnly: true)): throw .disk(text, isReadOnly: true)
      case .failure(.system(let error)): throw .system(error)
      // A file that this process may not read now stays unreadable. One unreadable file of a bad
      // disk must not block the others.
      case .failure(.unavailable), .failure(.unknown), .failure(.locked), .failure(.failed), .failure(.disk(_, isReadOnly: false)):
        try refuse(file, drop.name, "\(batch)-\(index)", "cannot be read", notice)
      }
    }
    if !dropped.isEmpty {
      try database.takeIn(dropped, batch: batch)
      if isSynced { try database.sync() }
    }
    try clear(batch)
  }

  /// Removes the files of a batch that is in the queue.
  private func clear(_ batch: String) throws(QueueError) {
    let place = "\(Self.intake)/\(batch)"
    for name in try folder.names(in: "\(place)") { try folder.remove(name.inside(place)) }
    folder.removeFolder("\(place)")
  }

  /// Moves a file to `refused`. Uses another name when its own is taken.
  private func refuse(_ file: FileName, _ name: FileName, _ otherName: String, _ reason: String, _ notice: (Left) -> Void)
    throws(QueueError)
  {
    let wanted = name.inside(Self.refused)
    let kept = folder.has(wanted) ? FileName("\(Self.refused)/\(otherName)") : wanted
    try folder.move(file, to: kept)
    notice(.refused("\(folder.path(of: kept)): the file \(reason) and was moved there"))
  }

  // MARK: What is dropped

  /// Files that are not added.
  enum Left {
    /// Files that stay in `new`: a message about the first, and their number.
    case inPlace(String, count: Int)
    case refused(String)
  }

  /// Returns the dropped files, in the order to add them.
  private func waiting(_ notice: (Left) -> Void) throws(QueueError) -> [Drop] {
    let found = try drops(in: Self.new)
    let left = found.filter { !isTakeable($0) }
    if let first = left.first {
      notice(inPlace(first, first.status.isRegular ? "cannot be read" : "is not a regular file", count: left.count))
    }
    return left.isEmpty ? found : found.filter(isTakeable)
  }

  private func inPlace(_ first: Drop, _ reason: String, count: Int) -> Left {
    .inPlace("\(folder.path(of: first.name.inside(Self.new))): \(reason) and stays there", count: count)
  }

  private func isTakeable(_ drop: Drop) -> Bool {
    drop.status.isRegular && folder.isReadable(drop.name.inside(Self.new))
  }

  private func drops(in place: String) throws(QueueError) -> [Drop] {
    try folder.names(in: FileName(place)).compactMap { name in folder.status(of: name.inside(place)).map { Drop(name: name, status: $0) } }
      .sorted(by: Drop.precedes)
  }
}
