/// What one call does to the queue's folder, all or nothing.
///
/// The steps are written to `tmp/journal` with whatever files they move into place, and `tmp/journal` becomes `journal` by one rename: that is the moment
/// at which the call has happened. Then the steps are taken, and the journal is removed. Whoever has the lock next and finds a journal takes its steps
/// again, each of which does nothing when it was taken before; whatever is in `tmp` without a journal is nothing.
struct FolderJournal {
  private enum Step: Character {
    /// Gives a file another name.
    case move = "m"
    /// Gives a file a second name.
    case link = "l"
    /// Makes an empty file.
    case make = "e"
    case remove = "r"
    case removeFolder = "d"
    /// Sets the number of the next payload.
    case next = "n"
  }

  static let name = "journal"
  static let temporaryName = "tmp/journal"
  /// What shows that a journal is whole; only a power failure with ``SyncChoice/off`` leaves one that is not.
  private static let end = "end"

  private var lines: [String] = []
  private var files = 0

  var isEmpty: Bool { lines.isEmpty }

  /// What is written: a step a line.
  var text: String { (lines + [Self.end, ""]).joined(separator: "\n") }

  mutating func move(_ name: String, to newName: String) { add(.move, name, newName) }
  mutating func link(_ name: String, to newName: String) { add(.link, name, newName) }
  mutating func make(_ name: String) { add(.make, name) }
  mutating func remove(_ name: String) { add(.remove, name) }
  mutating func removeFolder(_ name: String) { add(.removeFolder, name) }
  mutating func setNext(_ number: Int64) { add(.next, String(number)) }

  private mutating func add(_ step: Step, _ names: String...) {
    lines.append(([String(step.rawValue)] + names.map(Self.escaped)).joined(separator: "\t"))
  }

  /// A dropped file may be called anything.
  private static func escaped(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "%") }) else { return name }
    return name.replacing("%", with: "%25").replacing("\t", with: "%09").replacing("\n", with: "%0A")
  }

  private static func unescaped(_ name: Substring) -> String {
    guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
    return String(name).replacing("%0A", with: "\n").replacing("%09", with: "\t").replacing("%25", with: "%")
  }

  /// Writes a file whose place is a step.
  mutating func write(_ bytes: [UInt8], to name: String, in folder: QueueFolder) throws(QueueError) {
    let temporary = "tmp/\(files)"
    files += 1
    try folder.write(bytes, to: temporary)
    move(temporary, to: name)
  }

  /// Has the steps happen.
  ///
  /// - Parameter isSynced: whether it outlasts a power failure when this returns.
  func commit(to queue: FolderFiles, isSynced: Bool) throws(QueueError) {
    let folder = queue.folder
    do throws(QueueError) {
      try folder.write(Array(text.utf8), to: Self.temporaryName)
      // What a name leads to is on disk before the name is.
      if isSynced { try folder.sync() }
      try folder.move(Self.temporaryName, to: Self.name)
    } catch {
      discard(in: folder)
      throw error
    }
    // It has happened. A step that fails now is taken by the next call, which says what stands in its way.
    if isSynced { try? folder.sync() }
    try? Self.complete(queue)
  }

  /// Removes what was written for a call that does not happen.
  func discard(in folder: QueueFolder) {
    for file in 0...max(0, files) { try? folder.remove("tmp/\(file)") }
    try? folder.remove(Self.temporaryName)
  }

  /// Completes the call that a journal tells of, if there is one.
  static func complete(_ queue: FolderFiles) throws(QueueError) {
    guard let bytes = try queue.folder.bytes(of: name) else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    if lines.last == end[...] {
      for line in lines.dropLast() { try take(line, in: queue) }
    }
    try queue.folder.remove(name)
  }

  /// Takes one step; one that was taken before changes nothing.
  static func take(_ line: Substring, in queue: FolderFiles) throws(QueueError) {
    let parts = line.split(separator: "\t").map(unescaped)
    guard parts.count > 1, let letter = parts[0].first, let step = Step(rawValue: letter) else { return }
    let folder = queue.folder
    switch step {
    case .move: try folder.move(parts[1], to: parts[2])
    case .link: try folder.link(parts[1], to: parts[2])
    case .make: try folder.make(parts[1])
    case .remove: try folder.remove(parts[1])
    case .removeFolder: folder.removeFolder(parts[1])
    case .next: try queue.setNext(Int64(parts[1]) ?? 0)
    }
  }
}
