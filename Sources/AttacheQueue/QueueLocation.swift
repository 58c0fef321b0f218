/// Where a queue is: its kind and its path, written `sqlite:PATH` or `dir:PATH`.
public enum QueueLocation: Hashable, Sendable, CustomStringConvertible {
  /// A database file.
  case sqlite(path: String)
  /// A folder of files, like a maildir.
  case folder(path: String)

  /// - Returns: nil when the text has neither form, or no path.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let path = String(text[text.index(after: colon)...])
    guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
    switch text[..<colon] {
    case "sqlite": self = .sqlite(path: path)
    case "dir": self = .folder(path: path)
    default: return nil
    }
  }

  public var description: String {
    switch self {
    case .sqlite(let path): "sqlite:\(path)"
    case .folder(let path): "dir:\(path)"
    }
  }

  /// The file or folder.
  public var path: String {
    switch self {
    case .sqlite(let path), .folder(let path): path
    }
  }

  /// Opens the queue.
  ///
  /// - Parameters:
  ///   - creates: whether it is made when it is not there.
  ///   - clock: what leases, delays and moments are measured by.
  public func open(creates: Bool, sync: SyncChoice = .group, clock: any QueueClock = SystemQueueClock())
    throws(QueueError) -> any PayloadQueue
  {
    switch self {
    case .sqlite(let path): try SQLiteQueue(path: path, creates: creates, sync: sync, clock: clock)
    case .folder(let path): try FolderQueue(path: path, creates: creates, sync: sync, clock: clock)
    }
  }
}
