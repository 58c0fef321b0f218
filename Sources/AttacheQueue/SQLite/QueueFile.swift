internal import Attache
internal import GRDB
internal import Glibc

/// The path of a queue's database. Opens and creates the database.
struct QueueFile {
  /// The path without symbolic links. SQLite's own files and the lock file are beside the file
  /// itself.
  let path: String
  /// How the calls wait for other processes.
  let busy: BusyWait
  private let waits: LockWaits
  private let exists: Bool

  /// The size of SQLite's page cache, in KiB.
  static let cacheSize = 8_192
  /// In bytes. For lines of some hundred bytes, this needs less work than SQLite's default of
  /// 4,096.
  static let pageSize = 8_192
  /// The size of the log at which a checkpoint runs, in pages (16 MB).
  static let checkpointPages = 2_000
  /// The smallest possible database, in bytes: one page of the smallest size.
  private static let smallest = 512

  init(_ path: String, creates: Bool, waits: LockWaits) throws(QueueError) {
    self.waits = waits
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else { throw .unavailable("\(path): is not a file, so not a queue; choose another one") }
      guard status.st_size > 0 || creates else { throw .unavailable("\(path): is empty, so not a queue; `attache enqueue` creates one") }
      // SQLite would start a new database in the file.
      guard status.st_size == 0 || status.st_size >= Self.smallest else {
        throw .unavailable("\(path): is not a database, so not a queue; choose another file")
      }
      exists = status.st_size > 0
      self.path = try Self.resolve(path, ending: "")
    } else {
      guard errno == ENOENT else { throw SystemFailure(errno, at: path).error }
      guard creates else { throw .unavailable("\(path): there is no such queue; `attache enqueue` creates one") }
      // With two names, one queue would have two lock files.
      guard unsafe lstat(path, &status) != 0 else { throw .unavailable("\(path): is a link without a target; name the file itself") }
      exists = false
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? "."
      self.path = try Self.resolve(folder, ending: "/" + String(path[(slash.map(path.index(after:)) ?? path.startIndex)...]))
    }
    busy = BusyWait(self.path, waits)
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  private static func resolve(_ path: String, ending: String) throws(QueueError) -> String {
    guard let resolved = unsafe realpath(path, nil) else { throw SystemFailure(errno, at: path).error }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved) + ending
  }

  /// Opens the database, and creates its tables if it is empty.
  func open(_ sync: SyncChoice) throws(QueueError) -> (DatabaseQueue, WorkerSlot) {
    defer { busy.end() }
    for ending in ["", "-wal", "-shm", "-workers"] { try FileMode.restrict(path + ending) }
    // Checked first, so that no file is created beside a file that is no queue.
    let opened = exists ? try open() : nil
    let mode = FileMode(inFolder: folder).ofWriters
    let slot = try WorkerSlot(path: path + "-workers", mode: mode, waits: waits)
    let database = try slot.exclusively { () throws(QueueError) in
      // SQLite gives its own files the mode of the database.
      if opened == nil { Glibc.close(try mode.open(path)) }
      let database = if let opened { opened } else { try open() }
      try translating {
        try database.writeWithoutTransaction { connection in
          let mode = try String.fetchOne(connection, sql: "PRAGMA journal_mode = WAL")
          guard mode == "wal" else {
            throw QueueError.unavailable("\(path): its file system cannot be shared; put the queue on a local disk")
          }
          try connection.execute(sql: "PRAGMA synchronous = \(sync.level)")
          try connection.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointPages)")
        }
        let exists = try database.read { try QueueSchema.exists(in: $0, at: path) }
        if !exists { try QueueSchema.create(in: database) }
      }
      return database
    }
    if sync != .off { try syncFolder() }
    return (database, slot)
  }

  private func open() throws(QueueError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .callback { [busy] attempts in busy.pause(attempts) }
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { connection in
      try connection.execute(sql: "PRAGMA page_size = \(Self.pageSize)")
      try connection.execute(sql: "PRAGMA cache_size = -\(Self.cacheSize)")
      try connection.execute(sql: "PRAGMA mmap_size = 0")
      // A statement that changes several rows keeps a copy of the old pages: in memory, not in a file.
      try connection.execute(sql: "PRAGMA temp_store = MEMORY")
      try connection.execute(sql: "PRAGMA trusted_schema = OFF")
    }
    return try translating {
      let database = try DatabaseQueue(path: path, configuration: configuration)
      _ = try database.read { try QueueSchema.exists(in: $0, at: path) }
      return database
    }
  }

  private func translating<Result>(_ body: () throws -> Result) throws(QueueError) -> Result {
    do {
      return try body()
    } catch {
      throw failure(error)
    }
  }

  /// Waits until the names of a new queue's files are on disk.
  private func syncFolder() throws(QueueError) {
    let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw SystemFailure(errno, at: folder).error }
    defer { Glibc.close(descriptor) }
    guard fdatasync(descriptor) == 0 else { throw SystemFailure(errno, at: folder).error }
  }
}

extension SyncChoice {
  /// The value of `PRAGMA synchronous`.
  fileprivate var level: String {
    switch self {
    case .always: "FULL"
    case .group: "NORMAL"
    case .off: "OFF"
    }
  }
}
