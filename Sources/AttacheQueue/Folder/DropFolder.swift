internal import Attache

/// Adds the files of a folder to a queue, each once.
///
/// Files are moved from the folder into one for their batch beside it, `NAME.taken/BATCH`. From then
/// on other processes have no path to them, and the folder can get files with the same names. One
/// transaction adds their payloads and records the batch. Then the files are removed, the record is
/// deleted, and at last the batch's folder is removed. A killed process leaves the batch's folder. The
/// next call adds its files again, which adds nothing if the batch is recorded. It must have the same
/// queue, which `NAME.queue` names (``FolderOwner``).
///
/// Files are added in the order of time and then name. The whole content of a file is one payload.
/// Names that begin with a dot, folders, links and FIFOs stay. Not thread-safe.
package final class DropFolder {
  private let folder: QueueFolder
  private let owner: FolderOwner
  private let queue: any PayloadIntake
  private let isSynced: Bool
  private let reader: DropReader
  private let notice: (String) -> Void
  private let taken, refused: FileName
  private var listing = Listing()
  /// Whether to report files that stay.
  private var saysLeft = true
  /// The number of payloads that were added.
  package private(set) var added = 0

  /// - Parameters:
  ///   - path: the folder, which must exist.
  ///   - queue: gets the payloads.
  ///   - address: the queue's address for people.
  ///   - options: as for lines.
  ///   - sync: with `off`, a power failure may lose or repeat files.
  ///   - notice: receives messages for people about files that are not added.
  package init(
    _ path: String, queue: any PayloadIntake, address: String, _ options: EnqueueOptions, sync: SyncChoice,
    notice: @escaping (String) -> Void
  ) throws(QueueError) {
    folder = try QueueFolder(at: path)
    (taken, refused) = (folder.name.appending(".taken"), folder.name.appending(".refused"))
    owner = FolderOwner(folder, .inward, queue, address: address)
    (self.queue, isSynced, self.notice) = (queue, sync != .off, notice)
    reader = DropReader(options)
  }

  /// The path of the folder without symbolic links.
  package var path: String { folder.folderPath }

  /// The limits of one batch. The first file is taken whatever its size.
  private static let (maximumFiles, maximumBytes): (Int, Int64) = (4_096, 16 << 20)

  /// The files that were listed and not processed yet, in their order. With very many
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
    var portion: Int64 { min(max(0, status.size), DropFolder.maximumBytes) }

    /// Orders by time, and then by name.
    static func precedes(_ one: Drop, _ other: Drop) -> Bool {
      if one.status.written != other.status.written { return one.status.written < other.status.written }
      return one.name < other.name
    }
  }

  /// Adds the batches that a killed process left, and one batch of dropped files.
  ///
  /// - Returns: whether more files wait.
  package func takeIn() throws(QueueError) -> Bool {
    var notices: [String] = []
    // The receiver may be slow, such as a log that is not read, so it is called without the lock.
    defer { notices.forEach(notice) }
    let says = saysLeft
    try folder.checkPresence()
    return try owner.exclusively(refusing: refusal) { () throws(QueueError) in
      try takeIn { left in
        switch left {
        case .refused(let text): notices.append(text)
        case .inPlace(let text, let count):
          if says { notices.append(text + (count > 1 ? "; so do \(count - 1) more" : "")) }
          saysLeft = false
        }
      }
    }
  }

  /// Returns the error for a folder that others use; nil when this queue may have it from now on.
  private func refusal(_ other: FolderOwner.Other) throws(QueueError) -> QueueError? {
    guard other.direction == .inward else {
      let fault = "has results of \(other.address), which would come back"
      return .unavailable("\(path): \(fault); choose another folder, or remove \(other.path)")
    }
    // Nobody knows which of its files are in the other queue.
    guard try isTransferring() else { return nil }
    let fault = "\(folder.path(of: taken)): has files that were being added to \(other.address)"
    return .unavailable("\(fault); add them there first, or, if that queue is gone, move them back to \(path)")
  }

  private func takeIn(_ notice: (Left) -> Void) throws(QueueError) -> Bool {
    for batch in try batches() { try add(batch, notice) }
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
    try folder.makeFolder(place(of: batch))
    let count = try move(&drops, to: batch, notice)
    if count > 0 { try add(batch, notice) } else { folder.removeFolder(place(of: batch)) }
    return count > 0
  }

  private func place(of batch: String) -> FileName { taken.appending("/\(batch)") }

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
      return try folder.move(drop.name.inside(folder.name), to: drop.name.inside(place(of: batch))) ? true : nil
    } catch {
      if case .full = error { throw error }
      guard folder.isWritable(folder.name) else { throw error }
      return false
    }
  }

  /// Returns a unique name for a batch: 126 random bits in 32 hexadecimal digits.
  private static var newBatch: String {
    (0..<2).map { _ in String(UInt64.random(in: (1 << 63)...UInt64.max), radix: 16) }.joined()
  }

  private func batches() throws(QueueError) -> [String] {
    try folder.names(in: taken).compactMap(\.text)
  }

  /// Whether a killed process left files in a batch.
  private func isTransferring() throws(QueueError) -> Bool {
    for batch in try batches() where try !folder.names(in: place(of: batch)).isEmpty { return true }
    return false
  }

  /// Adds the files of a batch to the queue, and removes them.
  private func add(_ batch: String, _ notice: (Left) -> Void) throws(QueueError) {
    // The new places of the files are on disk before the batch is in the queue. Otherwise the files
    // might appear in the folder again after a power failure.
    if isSynced { try folder.sync() }
    let place = place(of: batch)
    var payloads: [NewPayload] = []
    for (index, drop) in try drops(in: place).enumerated() {
      let file = drop.name.inside(place)
      switch Result(catching: { () throws(QueueError) in try folder.content(of: file, upTo: NewPayload.maximumLine) }) {
      case .success(.bytes(let bytes)): payloads.append(reader.read(bytes, name: DropName.kept(of: drop.name)))
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
    if !payloads.isEmpty {
      added += try queue.enqueue(payloads, batch: batch)
      if isSynced { try queue.sync() }
    }
    try clear(place)
    // The files cannot come back once the record of their batch is deleted.
    if isSynced { try folder.sync() }
    try queue.forgetBatch(batch)
    folder.removeFolder(place)
  }

  /// Removes the files of a batch that is in the queue.
  private func clear(_ place: FileName) throws(QueueError) {
    for name in try folder.names(in: place) { try folder.remove(name.inside(place)) }
  }

  /// Moves a file to `NAME.refused`. Uses another name when its own is taken.
  private func refuse(_ file: FileName, _ name: FileName, _ otherName: String, _ reason: String, _ notice: (Left) -> Void)
    throws(QueueError)
  {
    let wanted = name.inside(refused)
    let kept = folder.has(wanted) ? FileName(otherName).inside(refused) : wanted
    try folder.move(file, to: kept)
    notice(.refused("\(folder.path(of: kept)): the file \(reason) and was moved there"))
  }

  // MARK: What is dropped

  /// Files that are not added.
  enum Left {
    /// Files that stay in the folder: a message about the first, and their number.
    case inPlace(String, count: Int)
    case refused(String)
  }

  /// Returns the dropped files, in the order to add them.
  private func waiting(_ notice: (Left) -> Void) throws(QueueError) -> [Drop] {
    let found = try drops(in: folder.name)
    let left = found.filter { !isTakeable($0) }
    if let first = left.first {
      notice(inPlace(first, first.status.isRegular ? "cannot be read" : "is not a regular file", count: left.count))
    }
    return left.isEmpty ? found : found.filter(isTakeable)
  }

  private func inPlace(_ first: Drop, _ reason: String, count: Int) -> Left {
    .inPlace("\(folder.path(of: first.name.inside(folder.name))): \(reason) and stays there", count: count)
  }

  private func isTakeable(_ drop: Drop) -> Bool {
    drop.status.isRegular && folder.isReadable(drop.name.inside(folder.name))
  }

  private func drops(in place: FileName) throws(QueueError) -> [Drop] {
    try folder.names(in: place).compactMap { name in folder.status(of: name.inside(place)).map { Drop(name: name, status: $0) } }
      .sorted(by: Drop.precedes)
  }
}
