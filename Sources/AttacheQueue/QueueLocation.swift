/// Where a queue is: its kind and its path, written `sqlite:PATH` or `dir:PATH`.
public enum QueueLocation: Hashable, Sendable, CustomStringConvertible {
  /// A database file.
  case sqlite(path: String)
  /// A folder with a database, an inbox and an outbox (``FolderQueue``).
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

  /// The description for a message of one line: a path may have line feeds.
  package var message: String { description.onOneLine }

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
  ///   - notice: is told, in words for people, which files of a folder's inbox are not taken in. It
  ///     must not call the queue.
  public func open(
    creates: Bool, sync: SyncChoice = .group, clock: any QueueClock = SystemQueueClock(),
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(QueueError) -> any PayloadQueue {
    try QueueError.opening { () throws(QueueError) -> any PayloadQueue in
      switch self {
      case .sqlite(let path): try SQLiteQueue(path: path, creates: creates, sync: sync, clock: clock)
      case .folder(let path): try FolderQueue(path: path, creates: creates, sync: sync, clock: clock, notice: { notice($0.onOneLine) })
      }
    }
  }
}
