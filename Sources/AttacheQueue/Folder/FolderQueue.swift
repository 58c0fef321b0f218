public import Attache
internal import Glibc
internal import Synchronization

/// A queue in a folder, for people who queue files: a database (``SQLiteQueue``) with an inbox and
/// an outbox.
///
///     PATH/new/cat.json          dropped by somebody: written elsewhere on the same file system and then moved here, so that it is whole
///     PATH/done/17-cat.json      the line that leaves for it, beside its record, 17-cat.json.record
///     PATH/dead/17-cat.json      the original of a payload that ended its workers, likewise
///     PATH/refused/cat.json      a dropped file that no queue takes
///
/// A dropped file is one payload, which is its whole content. Files are taken in by their time and
/// then by their name (``Inbox``), with the priority and the expiry that their envelope names.
/// Names that begin with a dot, folders, links and FIFOs stay in `new`. A queue works lines: in a
/// JSON object over several lines, each line feed becomes a space, which means the same in JSON. A
/// file that is no JSON is invalid, and leaves byte for byte.
///
/// Each result has its file once (``Outbox``). Whoever takes the file away has read the result: the
/// queue does not give it again, and does not retry it.
///
/// The rest is the queue's own:
///
///     queue.sqlite, -wal, -shm, -workers     the database: the state of each payload
///     intake/BATCH/…, outgoing/…             dropped files and result files on their way
///     lock                                   the lock of inbox and outbox
public final class FolderQueue: PayloadQueue {
  private let folder: QueueFolder
  private let lock: FolderLock
  private let database: SQLiteQueue
  private let isSynced: Bool
  private let notice: @Sendable (String) -> Void
  /// Holding it keeps other threads of this handle out, as the lock does other handles.
  private let state = Mutex(State())

  private struct State {
    /// Whether it is to be said that files in `new` are left there.
    var saysLeft = true
    var listing = Inbox.Listing()
  }

  /// Opens a queue. The queue of an attache that kept a folder of files instead of a database
  /// becomes a database first (``EarlierQueue``).
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - creates: whether it is made when it is not there; a folder with other things in it never
  ///     becomes one.
  ///   - sync: what a power failure may take back (``SQLiteQueue``). With `always` and `group` no
  ///     file of inbox or outbox is lost or repeated.
  ///   - clock: what leases, delays and moments are measured by.
  ///   - notice: is told, in words for people, what is not taken in. It must not call the queue.
  public init(
    path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock, notice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(QueueError) {
    isSynced = sync != .off
    self.notice = notice
    (folder, lock) = try FolderLayout.open(path, creates: creates, isSynced: isSynced, clock: clock)
    database = try SQLiteQueue(path: folder.path(of: FolderLayout.database), creates: creates, sync: sync, clock: clock)
    try database.prepareFolder()
  }

  private var inbox: Inbox { Inbox(folder: folder, database: database, isSynced: isSynced) }
  private var outbox: Outbox { Outbox(folder: folder, database: database, isSynced: isSynced) }

  /// Does something to inbox or outbox while no other call does, in this process or another.
  private func locked<Value: Sendable>(_ body: (inout State) throws(QueueError) -> Value) throws(QueueError) -> Value {
    try state.withLock { state throws(QueueError) in
      try lock.exclusively { () throws(QueueError) in
        try checkPresence()
        return try body(&state)
      }
    }
  }

  /// SQLite would go on with a file that has no name any more.
  private func checkPresence() throws(QueueError) {
    guard folder.has(FolderLayout.database) else { throw .unavailable("\(folder.path): the queue was removed while it was in use") }
  }

  // MARK: Payloads

  public func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    try checkPresence()
    return try database.enqueue(
      payloads.map { payload in
        var payload = payload
        payload.key = payload.key.map(Self.digest)
        return payload
      })
  }

  public func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    try database.knows(keys.map(Self.digest))
  }

  /// What a key is kept as: earlier versions kept the SHA-256 of a key, and nothing else.
  private static func digest(_ key: [UInt8]) -> [UInt8] {
    SHA256.hash(key).bytes
  }

  public func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    let hasMoreDrops = try takeIn()
    var claim = try database.claim(request)
    if hasMoreDrops { claim.next = .zero }
    return claim
  }

  /// - Returns: whether more dropped files wait.
  private func takeIn() throws(QueueError) -> Bool {
    var notices: [String] = []
    // Whoever is told may be slow, such as a log that nobody reads: others have the lock meanwhile.
    defer { notices.forEach(notice) }
    return try locked { state throws(QueueError) in
      // Results that find no room for their files keep further payloads from being worked.
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

  public func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try database.renew(leases, for: span)
  }

  public func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    try database.giveBack(payloads)
  }

  public func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard !results.isEmpty else { return [] }
    try checkPresence()
    let refused = try database.finish(results)
    // The results are in the queue. Where their files find no room, the next claim says so.
    try? locked { _ throws(QueueError) in try outbox.deliver() }
    return refused
  }

  // MARK: Results

  public func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    var page = try database.results(request)
    let taken = try locked { [page] _ throws(QueueError) in try outbox.taken(of: page.entries.map(\.id)) }
    page.entries.removeAll { taken.contains($0.id) }
    return page
  }

  public func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    try database.markRead(ids)
  }

  public func shareDelivery(_ share: DeliveryShare) throws(QueueError) {
    try database.shareDelivery(share)
  }

  public func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim {
    try checkPresence()
    var claim = try database.settle(settled, claiming: request)
    guard !claim.deliveries.isEmpty else { return claim }
    // Whoever took a file away has its result: it is not sent as well.
    let taken = try locked { [claim] _ throws(QueueError) in try outbox.taken(of: claim.deliveries.map(\.token.id)) }
    claim.deliveries.removeAll { taken.contains($0.token.id) }
    return claim
  }

  public func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try database.renewDeliveries(leases, for: span)
  }

  public func redeliver() throws(QueueError) -> Int {
    try database.redeliver()
  }

  public func history(of name: PayloadName) throws(QueueError) -> PayloadHistory? {
    switch name {
    case .number: try database.history(of: name)
    case .key(let key): try database.history(of: .key(Self.digest(key)))
    }
  }

  public func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory] {
    try database.poisoned(after: id, limit: limit)
  }

  public func anyHold() throws(QueueError) -> String? {
    try database.anyHold()
  }

  public func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] {
    try database.unlistedHolds(paths)
  }

  // MARK: Upkeep

  public func counts() throws(QueueError) -> QueueCounts {
    try locked { _ throws(QueueError) in
      try outbox.noteTaken(includesRead: false)
      var counts = try database.counts()
      counts.ready += try inbox.count()
      return counts
    }
  }

  public func retry(_ reason: Reason?) throws(QueueError) -> Int {
    try locked { _ throws(QueueError) in
      try outbox.noteTaken(includesRead: true)
      let count = try database.retryUntaken(reason)
      // The results are forgotten. Files that cannot be removed now go before the next claim.
      try? outbox.deliver()
      return count
    }
  }

  public func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
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

  public func sync() throws(QueueError) {
    try database.sync()
  }

  public func close() {
    try? locked { _ throws(QueueError) in try outbox.deliver() }
    database.close()
  }
}
