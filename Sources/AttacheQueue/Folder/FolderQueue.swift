package import Attache
internal import Glibc
internal import Synchronization

/// A queue in a folder, for people who queue files. It is a database (``SQLiteQueue``) with an
/// inbox and an outbox.
///
///     PATH/new/cat.json          a dropped file: written elsewhere on the same file system and then moved here, so that it is complete
///     PATH/done/17-cat.json      its output line, beside its record, 17-cat.json.record
///     PATH/dead/17-cat.json      the original of a dead payload, with its record
///     PATH/refused/cat.json      a dropped file that the queue refused
///
/// The whole content of a dropped file is one payload. Files are added in the order of time and
/// then name (``Inbox``), with the priority and the expiry of their envelope. Names that begin with
/// a dot, folders, links and FIFOs stay in `new`. A queue processes lines: in a JSON object over
/// several lines, each line feed becomes a space, which has the same meaning in JSON. A file that
/// is not JSON is invalid, and its output is the same bytes.
///
/// Each result gets its files once (``Outbox``). A result whose file was moved away or deleted
/// counts as read: the queue does not return it again, and does not retry it.
///
/// All other files are internal:
///
///     queue.sqlite, -wal, -shm, -workers     the database: the state of each payload
///     intake/BATCH/…, outgoing/…             dropped files and result files in transit
///     lock                                   the lock of inbox and outbox
package final class FolderQueue: PayloadQueue {
  private let folder: QueueFolder
  private let lock: FolderLock
  private let database: SQLiteQueue
  private let isSynced: Bool
  private let notice: @Sendable (String) -> Void
  /// Its lock excludes other threads of this handle, as ``lock`` excludes other handles.
  private let state = Mutex(State())

  private struct State {
    /// Whether to report files that stay in `new`.
    var saysLeft = true
    var listing = Inbox.Listing()
  }

  /// Opens a queue.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - creates: whether to create a missing queue. A folder with other contents never becomes
  ///     one.
  ///   - sync: what a power failure may undo (``SQLiteQueue``). With `always` and `group`, no file
  ///     of inbox or outbox is lost or repeated.
  ///   - clock: measures leases, delays and times.
  ///   - notice: receives messages for people about files that are not added. It must not call the
  ///     queue.
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
  package init(
    path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock, notice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(QueueError) {
    isSynced = sync != .off
    self.notice = notice
    (folder, lock) = try FolderLayout.open(path, creates: creates)
    database = try SQLiteQueue(path: folder.path(of: FolderLayout.database), creates: creates, sync: sync, clock: clock)
    try database.prepareFolder()
  }

  package var capabilities: QueueCapabilities { database.capabilities }

  private var inbox: Inbox { Inbox(folder: folder, database: database, isSynced: isSynced) }
  private var outbox: Outbox { Outbox(folder: folder, database: database, isSynced: isSynced) }

  /// Runs `body` while no other call, in this or another process, changes inbox or outbox.
  private func locked<Value: Sendable>(_ body: (inout State) throws(QueueError) -> Value) throws(QueueError) -> Value {
    try state.withLock { state throws(QueueError) in
      try lock.exclusively { () throws(QueueError) in
        try checkPresence()
        return try body(&state)
      }
    }
  }

  /// SQLite would continue with a deleted file.
  private func checkPresence() throws(QueueError) {
    guard folder.has(FolderLayout.database) else { throw .unavailable("\(folder.path): the queue was removed while it was in use") }
  }

  // MARK: Payloads

  package func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    try checkPresence()
    return try database.enqueue(payloads)
  }

  package func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    try database.knows(keys)
  }

  package func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    let hasMoreDrops = try takeIn()
    var claim = try database.claim(request)
    if hasMoreDrops { claim.next = .zero }
    return claim
  }

  /// - Returns: whether more dropped files wait.
  private func takeIn() throws(QueueError) -> Bool {
    var notices: [String] = []
    // The receiver may be slow, such as a log that is not read, so it is called without the lock.
    defer { notices.forEach(notice) }
    return try locked { state throws(QueueError) in
      // When there is no room for the files of results, no more payloads are processed.
      try outbox.deliver()
      var says = state.saysLeft
      defer { state.saysLeft = says }
      return try inbox.takeIn(&state.listing) { left in
        switch left {
        case .refused(let text): notices.append(text)
        case .inPlace(let text, let count):
          if says { notices.append(text + (count > 1 ? "; so do \(count - 1) more" : "")) }
          says = false
        }
      }
    }
  }

  package func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try database.renew(leases, for: span)
  }

  package func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    try database.giveBack(payloads)
  }

  package func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard !results.isEmpty else { return [] }
    try checkPresence()
    let refused = try database.finish(results)
    // The results are in the queue. If there is no room for their files, the next claim fails.
    try? locked { _ throws(QueueError) in try outbox.deliver() }
    return refused
  }

  // MARK: Results

  package func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    var page = try database.results(request)
    let taken = try locked { [page] _ throws(QueueError) in try outbox.taken(of: page.entries.map(\.id)) }
    page.entries.removeAll { taken.contains($0.id) }
    return page
  }

  package func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    try database.markRead(ids)
  }

  package func shareDelivery(_ share: DeliveryShare) throws(QueueError) {
    try database.shareDelivery(share)
  }

  package func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim {
    try checkPresence()
    var claim = try database.settle(settled, claiming: request)
    guard !claim.deliveries.isEmpty else { return claim }
    // A result whose file was moved away or deleted counts as read, and is not sent.
    let taken = try locked { [claim] _ throws(QueueError) in try outbox.taken(of: claim.deliveries.map(\.token.id)) }
    claim.deliveries.removeAll { taken.contains($0.token.id) }
    return claim
  }

  package func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try database.renewDeliveries(leases, for: span)
  }

  package func redeliver() throws(QueueError) -> Int {
    try database.redeliver()
  }

  package func history(of name: PayloadName) throws(QueueError) -> PayloadHistory? {
    try database.history(of: name)
  }

  package func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory] {
    try database.poisoned(after: id, limit: limit)
  }

  package func anyHold() throws(QueueError) -> String? {
    try database.anyHold()
  }

  package func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] {
    try database.unlistedHolds(paths)
  }

  // MARK: Upkeep

  package func counts() throws(QueueError) -> QueueCounts {
    try locked { _ throws(QueueError) in
      try outbox.noteTaken(includesRead: false)
      var counts = try database.counts()
      counts.ready += try inbox.count()
      return counts
    }
  }

  /// Dropped files are not in it.
  package func load() throws(QueueError) -> QueueLoad {
    try database.load()
  }

  package func retry(_ reason: Reason?) throws(QueueError) -> Int {
    try locked { _ throws(QueueError) in
      try outbox.noteTaken(includesRead: true)
      let count = try database.retryUntaken(reason)
      // The results are deleted. Files that cannot be removed now are removed before the next
      // claim.
      try? outbox.deliver()
      return count
    }
  }

  package func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    let purged = try locked { _ throws(QueueError) in
      let (payloads, released) = try database.purge(olderThan: age, includesUndelivered: includesUndelivered)
      try? outbox.deliver()
      return Purged(payloads: payloads, released: released)
    }
    return (purged.payloads, purged.released)
  }

  private struct Purged: Sendable {
    var payloads: Int
    var released: [String]
  }

  package func sync() throws(QueueError) {
    try database.sync()
  }

  package func close() {
    try? locked { _ throws(QueueError) in try outbox.deliver() }
    database.close()
  }
}
