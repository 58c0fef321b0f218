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

/// A row of the index: a URL's key, the file that the URL gave, and a note of the fetcher.
///
/// It is a byte string with a checksum at its start, so that a torn or foreign row is rejected.
struct IndexRow: Hashable, Sendable {
  var key: IndexKey
  var name: StoreName
  /// The size of the file, in bytes.
  var size: Int64
  /// When the row was last used, in seconds since 1970.
  var lastUse: Int64
  /// The fetcher's own data.
  var note: [UInt8]

  /// Incremented when the format changes. Rows of other versions are rejected.
  private static let version: UInt8 = 1
  private static let checkLength = 8

  init(key: IndexKey, name: StoreName, size: Int64, lastUse: Int64, note: [UInt8]) {
    (self.key, self.name, self.size, self.lastUse, self.note) = (key, name, size, lastUse, note)
  }

  /// The encoded row.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(100 + note.count)
    bytes.put(UInt64(0))
    bytes.append(Self.version)
    bytes.put(key.digest)
    bytes.put(name.digest)
    bytes.append(name.type.indexCode)
    bytes.put(size)
    bytes.put(lastUse)
    bytes += note
    bytes.put(Self.check(bytes[...]), at: 0)
    return bytes
  }

  /// Decodes a row. Returns nil for invalid bytes.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let check = reader.read(UInt64.self), check == Self.check(bytes[...]), reader.read(UInt8.self) == Self.version,
      let key = reader.read(HashWords.self), let digest = reader.read(HashWords.self),
      let code = reader.read(UInt8.self), let type = MediaType(indexCode: code), let size = reader.read(Int64.self), size >= 0,
      let lastUse = reader.read(Int64.self)
    else { return nil }
    self.init(
      key: IndexKey(digest: key), name: StoreName(words: digest, type: type), size: size, lastUse: lastUse,
      note: Array(reader.rest))
  }

  /// Returns the first eight bytes of the SHA-256 of everything after the checksum.
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var hash = SHA256()
    unsafe bytes.dropFirst(checkLength).withUnsafeBytes { unsafe hash.update($0) }
    return hash.finish().words[0]
  }
}

extension MediaType {
  /// The code of the type in a row. Codes are on disk, so they never change; a new type gets a new
  /// one.
  var indexCode: UInt8 {
    switch self {
    case .jpeg: 0
    case .gif: 1
    case .png: 2
    case .aiff: 3
    case .wave: 4
    case .mp3: 5
    case .mpeg4Audio: 6
    case .mpeg: 7
    case .mpeg2: 8
    case .mpeg4: 9
    case .avi: 10
    }
  }

  /// The type with that code; nil if there is none.
  init?(indexCode code: UInt8) {
    guard let type = Self.allCases.first(where: { $0.indexCode == code }) else { return nil }
    self = type
  }
}

/// The SHA-256 of a URL, of the root certificates in use, of the steps after the transfer, and of what the operator adds to the
/// request. The index finds rows by this key, so that URLs and header fields, which may contain secrets, are not written to disk.
struct IndexKey: Hashable, Sendable {
  /// The 32 bytes in memory order.
  let digest: HashWords

  /// - Parameters:
  ///   - url: the URL, as normalized by the URL gate.
  ///   - roots: the identity of the set of root certificates (``RootCertificates``), for an https
  ///     URL. A response that was verified with one set is not valid for another.
  ///   - steps: the identity of the steps that made the file, which ends with a line feed.
  ///   - additions: the header lines that are not the same in all runs (``RequestField``).
  init(_ url: String, roots: [UInt8] = [], steps: [UInt8] = [], additions: [String] = []) {
    var url = url
    var hash = SHA256()
    hash.update(steps)
    // No step, set of roots or URL begins like this or contains a line feed.
    for line in additions { hash.update(Array("field \(line)\n".utf8)) }
    hash.update(roots)
    url.withUTF8 { unsafe hash.update(UnsafeRawBufferPointer($0)) }
    digest = hash.finish().words
  }

  init(digest: HashWords) {
    self.digest = digest
  }

  /// The sort key of the `place` table. It is enough to find a row; the row itself shows whether it
  /// is the right one.
  var number: Int64 {
    Int64(bitPattern: digest[0])
  }
}
