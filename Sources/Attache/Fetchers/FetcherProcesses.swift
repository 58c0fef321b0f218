internal import Glibc
internal import Synchronization

/// The fetchers of a host: their shared state on the host's side, the loop that receives their
/// replies, and the parent that starts them if they are processes.
final class FetcherProcesses: Sendable {
  let links: [FetcherLink]
  private let pool: FetcherPool

  var loop: EventLoop { pool.loop }
  /// Whether no process can be started any more.
  var isBroken: Bool { pool.isBroken.load(ordering: .relaxed) }

  init(
    _ memory: FetchMemory, count: Int, shared: FetcherMemory, parent: FetcherParent? = nil, clock: MonotonicClock?,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    do throws(SystemError) {
      let loop = try EventLoop(name: "answer", machine: memory.machine, isOverdue: { clock?.isOverdue == true })
      pool = FetcherPool(loop: loop, memory: memory, shared: shared, parent: parent, count: count, notify: notify)
    } catch {
      throw StartError("\(error)")
    }
    links = (0..<count).map { [pool] in FetcherLink($0, of: pool) }
    if parent != nil { pool.loop.post { [links, pool] in pool.watchParent(links) } }
  }

  /// Ends the processes and the loop.
  func shutdown() {
    pool.parent?.stop()
    pool.loop.stop()
    pool.finishNotices()
  }
}

/// A message for the user about the fetcher processes.
package enum FetcherNotice: Sendable, CustomStringConvertible {
  /// A process has ended, as the text describes, and another takes its place. Reported once in a
  /// run.
  case replaced(String)
  /// The process that starts fetchers has ended, and they with it. Others take their places.
  /// Reported once in a run.
  case parentReplaced
  /// The kernel or the container refuses some of the limits. Reported once in a run.
  case unconfined(without: String)
  /// No process can be started any more.
  case broken

  /// What has happened when the process that starts fetchers has ended.
  private static let breakage = "the process that starts fetchers has ended (`dmesg` says if memory was short)"

  /// What this machine cannot enforce on a fetcher (``unconfined(without:)``); nil for nothing. A
  /// child process tries. Call it while the process has one thread.
  package static var ofThisMachine: FetcherNotice? { FetcherBounds.Missing.onThisMachine().notice }

  package var description: String {
    switch self {
    case .replaced(let how):
      "a fetcher \(how); another one replaces it and fetches again what was in flight (later ones are not reported)"
    case .parentReplaced:
      "\(Self.breakage); another one replaces it and its fetchers, and fetches again what was in flight (later ones are not reported)"
    case .unconfined(let missing):
      "fetchers run \(missing); the kernel or the container refuses it (SECURITY.md says what a compromised fetcher can do)"
    case .broken: "\(Self.breakage), and no other one replaces it: no more media are fetched until this command is run again"
    }
  }
}

/// The state that the links to a host's fetchers share. May be used from any thread.
final class FetcherPool: Sendable {
  let loop: EventLoop
  let memory: FetchMemory
  let shared: FetcherMemory
  /// nil if the fetchers are threads of this process.
  let parent: FetcherParent?
  let count: Int
  let placeBlocks = PlaceBlocks()
  let isBroken = Atomic<Bool>(false)
  private let starts = Mutex(ParentStarts())
  private let didNotify = Atomic<Bool>(false)
  private let didNotifyOfParent = Atomic<Bool>(false)
  private let didNotifyOfMissing = Atomic<Bool>(false)
  /// The threads that report. There is at most one for each kind of notice.
  private let reporting = Mutex<[any StartedThread]>([])
  /// The notices that wait for a thread.
  private let unreported = Mutex<[FetcherNotice]>([])
  private let lastNumber = Atomic<UInt64>(0)
  private let notify: @Sendable (FetcherNotice) -> Void

  init(
    loop: EventLoop, memory: FetchMemory, shared: FetcherMemory, parent: FetcherParent?, count: Int,
    notify: @escaping @Sendable (FetcherNotice) -> Void
  ) {
    (self.loop, self.memory, self.shared, self.parent, self.count, self.notify) = (loop, memory, shared, parent, count, notify)
  }

  fileprivate func watchParent(_ links: [FetcherLink]) {
    guard let parent else { return }
    loop.watch(parent.socket, for: .readable) { [links, weak self] _, _ in self?.handle(links) }
  }

  /// Handles a report that a fetcher has ended, or the end of the parent process.
  private func handle(_ links: [FetcherLink]) {
    guard let parent else { return }
    switch parent.nextReport() {
    case .end(let end):
      if links.indices.contains(end.number) { links[end.number].hasEnded(end.generation) }
      if end.signal != 0 || end.status != 0 { tellOnce(of: end) }
    case .library: break
    case .over:
      loop.unwatch(parent.socket)
      replaceParent(links)
    }
  }

  private func replaceParent(_ links: [FetcherLink]) {
    guard let parent, !parent.isOver else { return }
    let (pause, failsRequests) = starts.withLock { ($0.notedEnd(), $0.failsRequests) }
    if failsRequests { for link in links { link.giveUpStarting() } }
    guard pause == .zero else {
      _ = loop.schedule(at: loop.now.advanced(by: pause)) { [self] in startParent(links) }
      return
    }
    startParent(links)
  }

  private func startParent(_ links: [FetcherLink]) {
    guard let parent, !parent.isOver else { return }
    switch parent.replace() {
    case .started:
      watchParent(links)
      if !didNotifyOfParent.exchange(true, ordering: .relaxed) { notifyOnThread(.parentReplaced) }
    case .later: replaceParent(links)
    case .never:
      isBroken.store(true, ordering: .relaxed)
      for link in links { link.giveUp() }
      notifyOnThread(.broken)
    }
  }

  /// Records that a fetcher is ready, and so its parent.
  func noteReady() { starts.withLock { $0.noteReady() } }

  private func tellOnce(of end: FetcherParent.End) {
    guard !didNotify.exchange(true, ordering: .relaxed) else { return }
    let how = end.signal == 0 ? "left with status \(end.status)" : "ended: \(unsafe String(cString: strsignal(end.signal)))"
    notifyOnThread(.replaced(how))
  }

  func tellOnce(of missing: FetcherBounds.Missing) {
    guard !didNotifyOfMissing.exchange(true, ordering: .relaxed) else { return }
    if let notice = missing.notice { notifyOnThread(notice) }
  }

  /// Reports on a separate thread: a log that blocks must not delay replies. While the system starts
  /// no thread, it tries again every second.
  private func notifyOnThread(_ notice: FetcherNotice) {
    do throws(SystemError) {
      let thread = try SystemMachine().start("notice") { [notify] in notify(notice) }
      reporting.withLock { $0.append(thread) }
    } catch {
      unreported.withLock { $0.append(notice) }
      loop.post { [self] in
        _ = loop.schedule(at: loop.now.advanced(by: .seconds(1))) { [self] in
          for notice in takeUnreported() { notifyOnThread(notice) }
        }
      }
    }
  }

  private func takeUnreported() -> [FetcherNotice] {
    unreported.withLock { unreported in
      defer { unreported = [] }
      return unreported
    }
  }

  /// Waits until everything is reported. The loop has ended: what no thread was there for is reported
  /// here.
  fileprivate func finishNotices() {
    for thread in reporting.withLock({ $0 }) { thread.join() }
    for notice in takeUnreported() { notify(notice) }
  }

  /// Returns a request number that is unique among all fetchers.
  func nextNumber() -> UInt64 {
    lastNumber.add(1, ordering: .relaxed).newValue
  }
}

/// The places in the shared memory that no link has. Safe from any thread.
final class PlaceBlocks: Sendable {
  private let firstFree = Atomic<Int>(0)

  /// Returns places for a link, each of them once; empty when all places are taken.
  func next() -> Range<Int> {
    let first = min(FetcherMemory.places, firstFree.add(FetchPlaces.block, ordering: .relaxed).oldValue)
    return first..<min(FetcherMemory.places, first + FetchPlaces.block)
  }
}

/// The free places of a link in the shared memory. Returned places are reused before new ones, so
/// that few pages are used. A link never gives a place to another link: the limit applies to the sum
/// of the links' own peaks.
struct FetchPlaces {
  /// The number of places that a link gets at a time.
  static let block = 64

  private var free: [Int] = []

  /// - Parameter more: gets more places. They stay with this link.
  /// - Returns: ``FetcherMemory/places`` when all places are taken.
  mutating func take(more: () -> Range<Int>) -> Int {
    if free.isEmpty { free = more().reversed() }
    return free.popLast() ?? FetcherMemory.places
  }

  mutating func give(back place: Int) {
    if place < FetcherMemory.places { free.append(place) }
  }
}
