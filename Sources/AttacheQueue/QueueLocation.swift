/// The kind and the path of a queue, written `sqlite:PATH` or `dir:PATH`.
public enum QueueLocation: Hashable, Sendable, CustomStringConvertible {
  /// A database file.
  case sqlite(path: String)
  /// A folder with a database, an inbox and an outbox (``FolderQueue``).
  case folder(path: String)

  /// Parses a location.
  ///
  /// - Returns: nil when the text has neither form, or its path is empty or contains a NUL.
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

  /// The description as one line for a message. Line feeds in the path are escaped.
  package var message: String { description.onOneLine }

  /// The path of the file or folder.
  public var path: String {
    switch self {
    case .sqlite(let path), .folder(let path): path
    }
  }

  /// Opens the queue.
  ///
  /// - Parameters:
  ///   - creates: whether to create a missing queue.
  ///   - sync: when changes are safe from a power failure.
  ///   - clock: measures leases, delays and times.
  ///   - notice: receives messages for people about files in a folder's inbox that are not added.
  ///     It must not call the queue.
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
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
