internal import Glibc

/// The index of the store, `.index/index.sqlite` in its folder: it records which file a URL gave. It
/// survives restarts and is shared by processes. It has a folder of its own, because a web server
/// may serve the store.
///
/// It is a cache of a cache. A failure costs a fetch and never a payload: a row that cannot be read
/// counts as missing, a row that cannot be written is dropped, and a damaged file is set aside and
/// replaced.
///
/// Rows are stored in the order in which they were first written, and a separate table maps hashes
/// to rows. If rows were sorted by hash, each write would dirty a page of its own. The index opens
/// its file on first use, does not wait for locks before ``close()``, and belongs to one thread.
final class StoreIndex {
  static let folderName = ".index"
  static let fileName = "index.sqlite"
  /// The path in the store's folder.
  static let path = folderName + "/" + fileName
  /// The name that a damaged index gets when it is set aside. The next damaged index replaces it.
  static let damagedName = "index.sqlite.damaged"
  /// The files that SQLite creates next to the index.
  static let companions = ["index.sqlite-wal", "index.sqlite-shm"]

  /// A change of a row.
  enum Change {
    case keep(IndexRow)
    case forget(IndexKey)

    fileprivate var number: Int64 {
      switch self {
      case .keep(let row): row.key.number
      case .forget(let key): key.number
      }
    }
  }

  private enum State {
    case closed
    case open(OpenIndex)
    /// Disabled for the rest of the run.
    case off
  }

  private let store: AttachmentStore
  private var state = State.closed
  /// The file that ``state`` refers to, read before it was opened.
  private var file: StoreStatus?
  private var isReading = false
  /// Changes that could not be written because of a lock.
  private var overdue: [Change] = []
  /// A warning for the user.
  private(set) var warning: String?

  /// How long to wait for a lock, in milliseconds.
  private var busyTimeout: Int32 = 0
  /// How long ``close()`` waits for a lock, in milliseconds: far longer than a transaction takes,
  /// and less than the run waits.
  private static let closingBusyTimeout: Int32 = 400

  /// The maximum number of changes that are kept while another process holds the lock.
  private static let maximumOverdue = 4_096

  init(of store: AttachmentStore) {
    self.store = store
  }

  /// Returns the row of a key from a recent snapshot.
  func row(for key: IndexKey) -> IndexRow? {
    attempt(mayCreate: false) { [self] open throws(IndexFailure) in
      if !isReading {
        try open.begin.run()
        isReading = true
      }
      return try open.row(for: key)?.row
    } ?? nil
  }

  /// Ends the read transaction. An open read transaction prevents SQLite from resetting the
  /// write-ahead log.
  func endReading() {
    guard isReading, case .open(let open) = state else { return }
    isReading = false
    try? open.commit.run()
  }

  /// Makes all changes or none. Creates the index if there is none.
  func write(_ changes: [Change]) {
    endReading()
    let changes = overdue + changes
    guard !changes.isEmpty else { return }
    // The changes are kept until they are written, because the index may also be locked when it is
    // opened.
    overdue = changes.suffix(Self.maximumOverdue)
    _ = attempt(mayCreate: true) { [self] open throws(IndexFailure) in
      try open.connection.write { () throws(IndexFailure) in
        // Rows with close hashes share pages.
        for change in changes.sorted(by: { $0.number < $1.number }) { try open.make(change) }
      }
      overdue = []
    }
  }

  /// Writes pending changes, waits a limited time for the lock, and closes the file. All fetchers
  /// of a run do this at the same moment.
  func close() {
    busyTimeout = Self.closingBusyTimeout
    if case .open(let open) = state { open.connection.setBusyTimeout(busyTimeout) }
    write([])
    endReading()
    state = .off
  }

  // MARK: Opening, and what goes wrong

  private func attempt<Result>(mayCreate: Bool, _ body: (OpenIndex) throws(IndexFailure) -> Result) -> Result? {
    do throws(IndexFailure) {
      guard let open = try open(mayCreate: mayCreate) else { return nil }
      return try body(open)
    } catch {
      fail(error)
      return nil
    }
  }

  private func open(mayCreate: Bool) throws(IndexFailure) -> OpenIndex? {
    switch state {
    case .open(let open): return open
    case .off: return nil
    case .closed:
      file = store.indexStatus
      if file == nil, mayCreate, store.createIndex() { file = store.indexStatus }
      guard let file, file.isRegular else { return nil }
      let open = try OpenIndex(of: store, busyTimeout: busyTimeout)
      state = .open(open)
      return open
    }
  }

  private func fail(_ failure: IndexFailure) {
    // After a failure the read transaction may still be open.
    let wasReading = isReading
    isReading = false
    switch failure {
    case .busy where wasReading: endTransaction()
    case .busy: break
    // The changes go into the new index.
    case .damaged where warning == nil: setAside()
    // The second damaged index in a run disables the index.
    case .damaged: (state, overdue) = (.off, [])
    // Another process set aside the file that was to be opened. A new index exists or will exist.
    case .failed where isClosed && file?.isSameFile(as: store.indexStatus) == false: break
    case .failed:
      // The index would refuse the changes again.
      overdue = []
      if wasReading { endTransaction() }
      // The file must not be opened again for each payload.
      if isClosed { state = .off }
    }
  }

  private var isClosed: Bool {
    if case .closed = state { true } else { false }
  }

  private func endTransaction() {
    if case .open(let open) = state { try? open.connection.run("ROLLBACK") }
  }

  private func setAside() {
    state = .closed
    warning = "the index of \(store.root.path) was damaged; attache keeps it as \(Self.folderName)/\(Self.damagedName) and starts a new one"
    if let file { store.setIndexAside(file) }
  }
}
