internal import Glibc
internal import Synchronization

/// What the links to a host's fetchers share: the loop that receives replies, and the parent that
/// starts the fetchers if they are processes. May be used from any thread.
final class FetcherPool: Sendable {
  let loop: EventLoop
  let memory: FetchMemory
  let shared: FetcherMemory
  /// nil if the fetchers are threads of this process.
  let parent: FetcherParent?
  let count: Int
  let placeBlocks = PlaceBlocks()
  let isBroken = Atomic<Bool>(false)
  /// The pause before the process that starts fetchers is started again; the first costs none.
  private let pause = Mutex(GrowingPause(first: .milliseconds(10), longest: .seconds(1), free: 1))
  private let didNotify = Atomic<Bool>(false)
  private let didNotifyOfParent = Atomic<Bool>(false)
  private let didNotifyOfMissing = Atomic<Bool>(false)
  /// The threads that report. There is at most one for each kind of notice.
  private let reporting = Mutex<[any StartedThread]>([])
  /// The notices that wait for a thread.
  private let unreported = Mutex<[FetcherNotice]>([])
  /// Whether a thread is telling the unreported ones.
  private let isTelling = Atomic<Bool>(false)
  private let lastNumber = Atomic<UInt64>(0)
  private let notify: @Sendable (FetcherNotice) -> Void

  init(
    _ memory: FetchMemory, count: Int, shared: FetcherMemory, parent: FetcherParent? = nil, clock: MonotonicClock?,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    do throws(SystemError) {
      loop = try EventLoop(name: "answer", machine: memory.machine, isOverdue: { clock?.isOverdue == true })
    } catch {
      throw StartError("\(error)")
    }
    (self.memory, self.shared, self.parent, self.count, self.notify) = (memory, shared, parent, count, notify)
  }

  /// Makes the links to the fetchers. Call it once.
  func makeLinks() -> [FetcherLink] {
    let links = (0..<count).map { FetcherLink($0, of: self) }
    if parent != nil { loop.post { [self] in watchParent(links) } }
    return links
  }

  /// Ends the processes and the loop, and waits until everything is reported.
  func shutdown() {
    parent?.stop()
    loop.stop()
    for thread in reporting.withLock({ $0 }) { thread.join() }
    // Notices for which no thread could be started.
    for notice in takeUnreported() { notify(notice) }
  }

  private func watchParent(_ links: [FetcherLink]) {
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
    let (pause, failsRequests) = pause.withLock { ($0.next(), $0.failures >= GrowingPause.maximumFailures) }
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
  func noteReady() { pause.withLock { $0.reset() } }

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

  /// Reports a notice about an origin, after the earlier ones, on one thread for all. Without a thread
  /// it waits for the next one.
  func tell(_ notice: FetcherNotice) {
    guard parent != nil else { return }
    unreported.withLock { $0.append(notice) }
    guard !isTelling.exchange(true, ordering: .acquiringAndReleasing) else { return }
    do throws(SystemError) {
      try SystemMachine().start("notice") { [self] in
        repeat {
          for notice in takeUnreported() { notify(notice) }
          isTelling.store(false, ordering: .releasing)
        } while unreported.withLock({ !$0.isEmpty }) && !isTelling.exchange(true, ordering: .acquiringAndReleasing)
      }.detach()
    } catch {
      isTelling.store(false, ordering: .releasing)
    }
  }

  private func takeUnreported() -> [FetcherNotice] {
    unreported.withLock { unreported in
      defer { unreported = [] }
      return unreported
    }
  }

  /// Returns a request number that is unique among all fetchers.
  func nextNumber() -> UInt64 {
    lastNumber.add(1, ordering: .relaxed).newValue
  }
}
