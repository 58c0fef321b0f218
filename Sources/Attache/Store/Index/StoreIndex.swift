internal import Glibc

/// The index of the store, `index.sqlite` in its folder: which file a URL gave, kept over restarts
/// and shared by processes.
///
/// It is a cache of a cache. What goes wrong with it costs a fetch and never a payload: a row that
/// cannot be read is not there, one that cannot be written is not kept, and a file that is damaged
/// is set aside and begun anew.
///
/// Rows lie in the order in which they were first written, beside a table of places by hash: a row
/// that is spread over the file by its hash would dirty a page each. It opens its file when it is
/// first needed, waits for no lock, and belongs to one thread.
final class StoreIndex {
  static let fileName = "index.sqlite"
  /// How a damaged index is named when it is set aside; the next one replaces it.
  static let damagedName = "index.sqlite.damaged"
  /// What SQLite makes beside it.
  static let companions = ["index.sqlite-wal", "index.sqlite-shm"]

  /// What is to be done with a row.
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
    /// Not to be had in this run.
    case off
  }

  private let store: AttachmentStore
  private var state = State.closed
  /// Which file it was that ``state`` is about, as of before it was opened.
  private var file: StoreStatus?
  private var isReading = false
  /// Changes that met a lock.
  private var overdue: [Change] = []
  /// What the user should know of it.
  private(set) var warning: String?

  /// How long a lock is waited for, in milliseconds.
  private var patience: Int32 = 0
  /// What is still to be written at the end of a run waits so long, in milliseconds: far longer
  /// than a transaction takes, and less than the run waits.
  private static let closingPatience: Int32 = 400

  /// Changes that are kept while another process holds the lock.
  private static let maximumOverdue = 4_096

  init(of store: AttachmentStore) {
    self.store = store
  }

  /// The row of a key, as of one moment not long ago.
  func row(for key: IndexKey) -> IndexRow? {
    attempt(mayCreate: false) { [self] open throws(IndexFailure) in
      if !isReading {
        try open.begin.run()
        isReading = true
      }
      return try open.row(for: key)?.row
    } ?? nil
  }

  /// Lets go of the moment that rows were read as of: whoever reads keeps the log from being begun
  /// anew.
  func endReading() {
    guard isReading, case .open(let open) = state else { return }
    isReading = false
    try? open.commit.run()
  }

  /// Makes the changes, all or none, and the index where there is none.
  func write(_ changes: [Change]) {
    endReading()
    let changes = overdue + changes
    guard !changes.isEmpty else { return }
    // Until they are written: the index may be locked when it is opened, too.
    overdue = changes.suffix(Self.maximumOverdue)
    _ = attempt(mayCreate: true) { [self] open throws(IndexFailure) in
      try open.connection.write { () throws(IndexFailure) in
        // Neighbours share pages.
        for change in changes.sorted(by: { $0.number < $1.number }) { try open.make(change) }
      }
      overdue = []
    }
  }

  /// Writes what met a lock before, with some patience, and closes the file: each fetcher of a run
  /// does so at the same moment.
  func close() {
    patience = Self.closingPatience
    if case .open(let open) = state { open.connection.setPatience(patience) }
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
      file = store.root.status(of: Self.fileName)
      if file == nil, mayCreate, store.createIndex() { file = store.root.status(of: Self.fileName) }
      guard let file, file.isRegular else { return nil }
      let open = try OpenIndex(of: store, patience: patience)
      state = .open(open)
      return open
    }
  }

  private func fail(_ failure: IndexFailure) {
    // What failed within a read's transaction is not known to be over.
    let wasReading = isReading
    isReading = false
    switch failure {
    case .busy where wasReading: endTransaction()
    case .busy: break
    // The changes go into the new one.
    case .damaged where warning == nil: setAside()
    // A second one in a run is enough.
    case .damaged: (state, overdue) = (.off, [])
    // Another process set aside what was to be opened: there is a new one, or will be.
    case .failed where isClosed && file?.isSameFile(as: store.root.status(of: Self.fileName)) == false: break
    case .failed:
      // What the index itself refuses, it would refuse again.
      overdue = []
      if wasReading { endTransaction() }
      // A file that cannot be opened now cannot be opened for each payload either.
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
    warning = "the index of \(store.root.path) was damaged; it is kept as \(Self.damagedName), and a new one is begun"
    if let file { store.setIndexAside(file) }
  }
}
