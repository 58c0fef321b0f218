internal import Attache
internal import Glibc

/// The file beside a folder, `NAME.queue`: it names the queue of the folder's files and whether they
/// come in or go out, and it is their lock.
///
/// It has three lines: the queue's identity, the direction, and the queue's address for people. What
/// follows them is left of a longer address. A file without three lines names no queue.
struct FolderOwner {
  /// Where the files go.
  enum Direction: String {
    /// Into the queue.
    case inward = "in"
    /// Out of the queue.
    case outward = "out"
  }

  /// Who uses the folder otherwise.
  struct Other {
    /// Nil if it is neither.
    let direction: Direction?
    /// The queue's address.
    let address: String
    /// The path of the file that says so.
    let path: String
  }

  private let mode: FileMode
  private let path: String
  private let direction: Direction
  private let identity, address: String

  /// - Parameters:
  ///   - queue: the queue that this process uses the folder for.
  ///   - address: its address for people.
  init(_ folder: QueueFolder, _ direction: Direction, _ queue: some QueueHandle, address: String) {
    self.direction = direction
    path = folder.path(of: folder.name.appending(".queue"))
    mode = FileMode(inFolderOf: folder.mode).ofWriters
    (identity, self.address) = (queue.identity, address.onOneLine)
  }

  /// Makes the folder one of this queue and direction, and runs `body`, while no other call does.
  ///
  /// - Parameter refusal: returns what to throw when the file names another queue or direction; nil
  ///   when this one may take its place.
  func exclusively<Value>(refusing refusal: (Other) throws(QueueError) -> QueueError?, _ body: () throws(QueueError) -> Value)
    throws(QueueError) -> Value
  {
    while true {
      let file = try mode.open(path)
      defer { close(file) }
      do throws(FileLock.Failure) {
        try FileLock.wait(file, exclusively: true, path: path)
      } catch {
        throw SystemFailure.error(error, at: path)
      }
      // People may remove the file. Then others lock a new one.
      guard FileIdentity(descriptor: file) == FileIdentity(path: path) else { continue }
      try claim(file, refusal)
      return try body()
    }
  }

  private func claim(_ file: Int32, _ refusal: (Other) throws(QueueError) -> QueueError?) throws(QueueError) {
    // An address has at most the 4,096 bytes of a path, escaped.
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw SystemFailure(errno, at: path).error }
    let lines = bytes.prefix(count).split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    if lines.count > 3 {
      let found = Direction(rawValue: String(decoding: lines[1], as: UTF8.self))
      guard lines[0] != Array(identity.utf8)[...] || found != direction else { return }
      let other = Other(direction: found, address: String(decoding: lines[2], as: UTF8.self).onOneLine, path: path)
      if let error = try refusal(other) { throw error }
    }
    let text = Array("\(identity)\n\(direction.rawValue)\n\(address)\n".utf8)
    guard unsafe pwrite(file, text, text.count, 0) == text.count else { throw SystemFailure(errno, at: path).error }
  }
}
