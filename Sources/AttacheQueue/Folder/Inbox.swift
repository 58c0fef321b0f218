/// Takes dropped files into a queue, each once.
///
/// Files are moved from `new` into a folder of their batch, `intake/BATCH`; from then on nobody
/// else has a name for them, and `new` is free for other files of the same names. One transaction
/// adds their payloads and notes the batch; then the files are removed. A process that is killed
/// leaves a batch that was noted, whose files only need to be removed, or one that was not, which
/// the next call adds.
///
/// One call at a time uses it: under the queue's lock.
struct Inbox {
  let folder: QueueFolder
  let database: SQLiteQueue
  /// Whether a power failure may neither lose nor repeat a file.
  let isSynced: Bool

  static let new = "new"
  static let intake = "intake"
  static let refused = "refused"
  /// What one batch has at most; one file is always taken.
  private static let (maximumFiles, maximumBytes): (Int, Int64) = (4_096, 16 << 20)

  /// The files of `new` that were listed and not looked at since, in the order to take them in.
  /// With very many files a listing lasts for many batches; what is dropped meanwhile comes after
  /// it.
  struct Listing {
    fileprivate var drops: ArraySlice<Drop> = []
  }

  /// Files that a listing has at most: 65,536 take about 10 MB.
  private static let maximumListed = 65_536

  /// A file to take in.
  fileprivate struct Drop {
    var name: FileName
    var status: QueueFolder.Status
    /// What it takes of a batch. Its size is anybody's choice; a file that is too long is not read.
    var portion: Int64 { min(max(0, status.size), Inbox.maximumBytes) }

    /// By time, and then by name.
    static func precedes(_ one: Drop, _ other: Drop) -> Bool {
      if one.status.written != other.status.written { return one.status.written < other.status.written }
      return one.name < other.name
    }
  }

  /// Takes in what a killed process was at, and one batch of dropped files.
  ///
  /// - Parameters:
  ///   - listing: of the call before, for this one to go on with.
  ///   - notice: is told what is left in `new`, and what is refused.
  /// - Returns: whether more files wait.
  func takeIn(_ listing: inout Listing, _ notice: (Left) -> Void) throws(QueueError) -> Bool {
    let taken = try database.takenBatches()
    for batch in try batches() {
      if taken.contains(batch) { try clear(batch) } else { try add(batch, notice) }
    }
    if !taken.isEmpty {
      // A batch is forgotten once its folder cannot come back.
      if isSynced { try folder.sync() }
      try database.forget(taken)
    }
    // Others may have taken what was listed before.
    if !listing.drops.isEmpty, try takeIn(&listing.drops, notice) { return true }
    var drops = try waiting(notice)[...]
    guard !drops.isEmpty else { return false }
    _ = try takeIn(&drops, notice)
    // A copy, so that the rest takes no memory.
    listing.drops = Array(drops.prefix(Self.maximumListed))[...]
    return !drops.isEmpty
  }

  /// Takes in one batch of what was listed.
  ///
  /// - Returns: whether any file was there.
  private func takeIn(_ drops: inout ArraySlice<Drop>, _ notice: (Left) -> Void) throws(QueueError) -> Bool {
    let batch = Self.newBatch
    try folder.makeFolder("\(Self.intake)/\(batch)")
    let count = try move(&drops, to: batch, notice)
    if count > 0 { try add(batch, notice) } else { folder.removeFolder("\(Self.intake)/\(batch)") }
    return count > 0
  }

  /// How many files wait, those included that a killed process was at.
  func count() throws(QueueError) -> Int {
    let taken = try database.takenBatches()
    var count = try waiting { _ in }.count
    for batch in try batches() where !taken.contains(batch) { count += try folder.names(in: "\(Self.intake)/\(batch)").count }
    return count
  }

  // MARK: A batch

  /// Moves files into the folder of a batch, until it has enough. A file that cannot be moved
  /// stays, and keeps no other from being taken in: somebody else's in a sticky folder, for one.
  ///
  /// - Parameter drops: loses those that were looked at.
  /// - Returns: how many files the batch has.
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

  /// - Returns: false when that file alone cannot be moved; nil when it is gone.
  private func move(_ drop: Drop, to batch: String) throws(QueueError) -> Bool? {
    do throws(QueueError) {
      return try folder.move(drop.name.inside(Self.new), to: drop.name.inside("\(Self.intake)/\(batch)")) ? true : nil
    } catch {
      if case .full = error { throw error }
      guard folder.isWritable(FileName(Self.new)) else { throw error }
      return false
    }
  }

  /// A name that no other batch has had: 128 random bits.
  private static var newBatch: String {
    (0..<2).map { _ in String(UInt64.random(in: (1 << 63)...UInt64.max), radix: 16) }.joined()
  }

  private func batches() throws(QueueError) -> [String] {
    try folder.names(in: FileName(Self.intake)).compactMap(\.text)
  }

  /// Adds the files of a batch to the queue, and removes them.
  private func add(_ batch: String, _ notice: (Left) -> Void) throws(QueueError) {
    // Where the files are is on the disk before the batch is in the queue: otherwise they might be
    // found in `new` again.
    if isSynced { try folder.sync() }
    let place = "\(Self.intake)/\(batch)"
    let reader = DropReader()
    var dropped: [DroppedPayload] = []
    for (index, drop) in try drops(in: place).enumerated() {
      let file = drop.name.inside(place)
      switch Result(catching: { () throws(QueueError) in try folder.content(of: file, upTo: NewPayload.maximumLine) }) {
      case .success(.bytes(let bytes)): dropped.append(DroppedPayload(payload: reader.read(bytes), name: DropName.kept(of: drop.name)))
      case .success(.missing): break
      case .success(.tooLong): try refuse(file, drop.name, "\(batch)-\(index)", "is longer than 64 MiB, which no queue takes", notice)
      case .success(.irregular): try refuse(file, drop.name, "\(batch)-\(index)", "is no regular file", notice)
      // No descriptor is left, or nothing may be written: that is not the file's fault.
      case .failure(.full(let text)): throw .full(text)
      case .failure(.disk(let text, isReadOnly: true)): throw .disk(text, isReadOnly: true)
      case .failure(.system(let error)): throw .system(error)
      // What this process may not read, it may not read tomorrow; and one file of a bad disk does
      // not keep the others from being worked.
      case .failure(.unavailable), .failure(.failed), .failure(.disk(_, isReadOnly: false)):
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

  /// Puts a file aside, beside others of its name.
  private func refuse(_ file: FileName, _ name: FileName, _ otherName: String, _ reason: String, _ notice: (Left) -> Void)
    throws(QueueError)
  {
    let wanted = name.inside(Self.refused)
    let kept = folder.has(wanted) ? FileName("\(Self.refused)/\(otherName)") : wanted
    try folder.move(file, to: kept)
    notice(.refused("\(folder.path(of: kept)): the file \(reason), and was put aside there"))
  }

  // MARK: What is dropped

  /// What is not taken in.
  enum Left {
    /// What is in `new` and stays there: the first, and how many in all.
    case inPlace(String, count: Int)
    case refused(String)
  }

  /// The dropped files, in the order to take them in.
  private func waiting(_ notice: (Left) -> Void) throws(QueueError) -> [Drop] {
    let found = try drops(in: Self.new)
    let left = found.filter { !isTakeable($0) }
    if let first = left.first {
      notice(inPlace(first, first.status.isRegular ? "cannot be read" : "is no regular file", count: left.count))
    }
    return left.isEmpty ? found : found.filter(isTakeable)
  }

  private func inPlace(_ first: Drop, _ reason: String, count: Int) -> Left {
    .inPlace("\(folder.path(of: first.name.inside(Self.new))): \(reason), and stays there", count: count)
  }

  private func isTakeable(_ drop: Drop) -> Bool {
    drop.status.isRegular && folder.isReadable(drop.name.inside(Self.new))
  }

  private func drops(in place: String) throws(QueueError) -> [Drop] {
    try folder.names(in: FileName(place)).compactMap { name in folder.status(of: name.inside(place)).map { Drop(name: name, status: $0) } }
      .sorted(by: Drop.precedes)
  }
}
