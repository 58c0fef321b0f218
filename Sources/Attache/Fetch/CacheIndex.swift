internal import Synchronization

/// The HTTP cache's index, as all engines of a fetcher share it: a Bloom filter that rules out most URLs, and the thread that reads and writes the rows. Safe
/// from any thread.
final class CacheIndex: Sendable {
  private struct Filtering {
    /// nil as long as nobody knows what the index has.
    var filter: KeyFilter?
    var ends: MonotonicInstant?
    /// The keys that were kept since a new filter was asked for; nil when none is.
    var keptSince: [Int64]?
    /// Whether there was no index, and nobody has seen to one yet.
    var lacksIndex: Bool
    /// The engines that have still to close it.
    var users = 1
  }

  let store: AttachmentStore
  /// What tells this run's root certificates from others.
  let roots: [UInt8]
  private let worker: MediaWorker
  private let shelf: CacheShelf
  private let machine: any Machine
  private let filtering: Mutex<Filtering>

  /// How long a filter does not know what other processes write.
  private static let filterTime = Duration.seconds(60)

  /// How long the end of a run waits for the last rows.
  static let closingPatience = Duration.milliseconds(500)

  /// - Parameter users: the engines that share it.
  init(worker: MediaWorker, store: AttachmentStore, limits: MediaLimits, roots: [UInt8], machine: any Machine, users: Int) {
    (self.worker, self.store, self.roots, self.machine) = (worker, store, roots, machine)
    shelf = CacheShelf(store, limits: limits)
    filtering = Mutex(
      store.hasIndex
        ? Filtering(lacksIndex: false, users: users)
        : Filtering(filter: KeyFilter([]), ends: machine.now.advanced(by: Self.filterTime), lacksIndex: true, users: users))
  }

  /// Whether the index may have a row for a key. Sees to it that there is an index, and that what it is known to have is not old.
  func mayContain(_ number: Int64) -> Bool {
    let (mayContain, renews, creates) = filtering.withLock { filtering in
      let renews = filtering.keptSince == nil && filtering.ends.map { $0 <= machine.now } ?? true
      if renews { filtering.keptSince = [] }
      defer { filtering.lacksIndex = false }
      return (filtering.filter?.mayContain(number) ?? true, renews, filtering.lacksIndex)
    }
    // Behind the rows that are on their way into the index.
    if renews { worker.perform { [self, shelf] in take(shelf.filter) } }
    // While the first transfer is under way, so that the end of a short run need not wait for it.
    if creates { worker.perform { [shelf] in shelf.create() } }
    return mayContain
  }

  private func take(_ filter: KeyFilter?) {
    filtering.withLock { filtering in
      filtering.filter = filter
      for number in filtering.keptSince ?? [] { filtering.filter?.insert(number) }
      filtering.keptSince = nil
      filtering.ends = machine.now.advanced(by: Self.filterTime)
    }
  }

  /// Notes that a key will have a row.
  func noteKept(_ number: Int64) {
    filtering.withLock { filtering in
      filtering.filter?.insert(number)
      filtering.keptSince?.append(number)
    }
  }

  /// Answers inquiries, all from one moment of the index.
  ///
  /// - Parameter reply: called on the index's thread.
  func answer(_ inquiries: [CacheShelf.Inquiry], _ reply: @escaping @Sendable ([CacheShelf.Answer]) -> Void) {
    worker.performNext { [shelf] in reply(shelf.answers(inquiries)) }
  }

  /// Looks whether a file is still there; if so, it comes back pinned.
  ///
  /// - Parameter reply: called on the index's thread.
  func confirm(_ file: StoredFile, _ reply: @escaping @Sendable (Bool) -> Void) {
    worker.performNext { [shelf] in reply(shelf.pin(file)) }
  }

  func write(_ changes: [CacheShelf.Change]) {
    worker.perform { [shelf] in shelf.write(changes) }
  }

  /// Has the index let go of what it looks at.
  func rest() {
    worker.perform { [shelf] in shelf.rest() }
  }

  /// Closes the index for one engine; with the last, when what was to be written is.
  ///
  /// - Parameter done: is told on the index's thread what the user should know of it.
  func close(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    let isLast = filtering.withLock { filtering in
      filtering.users -= 1
      return filtering.users == 0
    }
    worker.perform { [shelf] in
      if isLast { shelf.close() }
      done(isLast ? shelf.warning : nil)
    }
  }
}
